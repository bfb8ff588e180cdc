# frozen_string_literal: true

require "active_support/core_ext/module/delegation"

module Pipeloader
  # A method that ActiveSupport's `delegate` has written, as a Formula:
  #
  #     delegate :name, to: :author, prefix: true, allow_nil: true
  #
  # Told by its instructions: they are those of one that `delegate` writes here with these names.
  class Delegate < Formula
    class << self
      # @param model [Class] of records
      # @param name [Symbol] of a method of theirs
      # @return [Delegate, nil]
      def of_model(model, name)
        return unless Provenance.heirs_have?(model, name)

        method = model.instance_method(name)
        path = path(method) or return
        nilable = [false, true].find { |nil_too| Bytecode.told(method) == Bytecode.told(written(name, *path, nil_too)) }
        new(model, method, [path], nilable) unless nilable.nil?
      end

      private

      # @return [Array(Symbol, Symbol), nil] what it calls of its record, and of what that returns
      def path(method)
        instructions = Bytecode.of(method, %i[rest keyrest block]) or return
        case instructions.steps.grep(Array)
        in [[:putself], [_, { mid: reader, orig_argc: 0 }], *steps]
          asked = steps.filter_map { |name, call| call[:mid] if name == :send }.first
          [reader, asked] if asked && [reader, asked, method.name].all?(/\A[a-z_]\w*\z/) && method.name.end_with?(asked.name)
        else nil
        end
      end

      # On a fiber of its own, as what is compiled by a Compiler.
      def written(name, reader, asked, nilable)
        prefix = name == asked ? false : name.name.delete_suffix("_#{asked}")
        host = Fiber.new(blocking: true) { Class.new { delegate asked, to: reader, prefix: prefix, allow_nil: nilable } }.resume
        host.instance_method(prefix ? "#{prefix}_#{asked}" : asked)
      end
    end

    # @param nilable [Boolean] whether it is nil where there is nobody to ask
    def initialize(host, method, paths, nilable)
      super(host, method, paths, {}, [])
      @nilable = nilable
      @asked = paths.first.last
    end

    private

    # ActiveSupport's error is graphql-ruby's to report, and so is what nil answers: `allow_nil` asks it what it knows.
    def work_out(values, _arguments, _context)
      target = values.first
      return target[0] if target

      !@nilable || nil.respond_to?(@asked) ? raise(DoesNotFit) : nil
    end
  end
end
