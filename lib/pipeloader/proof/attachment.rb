# frozen_string_literal: true

module Pipeloader
  # What ActiveStorage attaches to records of a model, of which a method may ask whether it is there:
  #
  #     has_one_attached :avatar           # object.avatar.attached? is !object.avatar_attachment.nil?
  #     has_many_attached :documents       # object.documents.attached? is object.documents_attachments.any?
  #
  # That is so for records that have nothing to attach, or to detach, when they are saved, as those from the database.
  class Attachment
    # What may be asked of it.
    ASKED = :attached?
    # Where ActiveStorage's methods keep what is to be attached.
    PENDING = :@attachment_changes
    # As ActiveStorage generates it. A Formula puts what it knows where that looks.
    READER = <<~RUBY.freeze
      # frozen_string_literal: true
      def %<name>s
        @active_storage_attached ||= {}
        @active_storage_attached[:%<name>s] ||= ActiveStorage::Attached::%<kind>s.new("%<name>s", self)
      end
    RUBY
    CHANGES = "def attachment_changes = #{PENDING} ||= {}".freeze
    # {class => the last part of the association's name, and its method that asks that}
    KINDS = { One: "attachment", Many: "attachments" }.freeze
    # What runs besides that.
    CALLED = [:initialize, :name, :record, :change, ASKED].freeze
    NONE = [].freeze
    private_constant :READER, :CHANGES, :KINDS, :CALLED, :NONE

    class << self
      # @param model [Class] of records
      # @param name [Symbol] of a method of theirs
      # @return [Attachment, nil]
      def of(model, name)
        return unless Provenance.heirs_have?(model, name) && Provenance.of_gem?(:ActiveStorage, model.instance_method(name))
        return if [name, ASKED].any? { |it| KnownMethods.refined?(it) }

        kind = KINDS.keys.find { |it| Bytecode.alike?(model.instance_method(name), READER % { name: name, kind: it }) }
        new(model, name, kind) if kind && alone?(model, kind)
      end

      # True if nothing is to be attached to a record, or detached from it, when it is saved.
      def unchanged?(record)
        pending = record.instance_variable_get(PENDING)
        pending.nil? || pending.empty?
      end

      private

      # True if all that is called is ActiveStorage's, and as it is there.
      def alone?(model, kind)
        host = ActiveStorage::Attached.const_get(kind)
        methods = [*CALLED, KINDS[kind].to_sym].map { |it| host.instance_method(it) }
        Provenance.ruby_makes?(host) && methods.all? { |it| Provenance.gem_alone?(:ActiveStorage, it) } &&
          [model, *model.descendants].all? { |it| asked?(it) }
      end

      def asked?(model)
        changes = model.instance_method(:attachment_changes)
        Provenance.gem_alone?(:ActiveStorage, changes) && Bytecode.alike?(changes, CHANGES) &&
          Provenance.core_alone?(model.instance_method(:public_send))
      end
    end

    # @return [Symbol] of the association that leads to what is attached
    attr_reader :association

    def initialize(model, name, kind)
      @model = model
      @association = :"#{name}_#{KINDS[kind]}"
      @many = kind == :Many
      host = ActiveStorage::Attached.const_get(kind)
      @methods = [model.instance_method(name), *[ASKED, KINDS[kind].to_sym].map { |it| host.instance_method(it) }]
      @hosts = [model, host, host]
    end

    alias inspect to_s

    # True if several may be.
    def many? = @many

    # @return [Chain] what is asked of the association, if they may
    def chain = Chain.new([*Chain.of(@association).calls, Chain::Call.new(:any?, [], {})], {})

    # As a Formula's, among which it is.
    def contexts = NONE

    # True if one of its methods isn't as it was.
    def over?
      @hosts.zip(@methods).any? { |host, method| host.instance_method(method.name) != method }
    rescue NameError # there is none
      true
    end
  end
end
