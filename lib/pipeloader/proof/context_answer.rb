# frozen_string_literal: true

module Pipeloader
  # What there is for a ContextValue in a query's context, where asking for it does nothing else: a plain value, or a record of
  # which columns are asked.
  class ContextAnswer
    SCALARS = [NilClass, TrueClass, FalseClass, Integer, Float, BigDecimal, String, Symbol, Date, Time,
               ActiveSupport::TimeWithZone].freeze
    # Where no scope was set, see GraphQL::Query::Context#scoped_set!.
    UNSCOPED = GraphQL::EmptyObjects::EMPTY_HASH
    private_constant :SCALARS, :UNSCOPED

    class << self
      # @param value [ContextValue]
      # @return [Object] a plain value, or a record
      # @raise [DoesNotFit] where code of the application's would run, or raise
      def of(value, context)
        found = walk(value, context) { raise DoesNotFit }
        plain?(found) || record?(found) ? found : raise(DoesNotFit)
      end

      # @raise [DoesNotFit] where code of the application's would run
      def verify(value, context)
        found = walk(value, context) { return } # it raises, and that is all
        raise DoesNotFit unless value.truth? || plain?(found)
      end

      private

      # @yield where something is called of nil
      def walk(value, context)
        value.calls.inject(read(value.key, context)) do |found, call|
          return nil if found.nil? && call.safe

          if plain?(found) && Formula.callable?(call.name) then found.public_send(call.name)
          elsif found.nil? then yield
          elsif record?(found) && reads_columns?(found, call.name) then found.public_send(call.name)
          else raise DoesNotFit
          end
        end
      end

      def read(key, context)
        host = context.class.instance_method(:[])
        raise DoesNotFit unless Provenance.graphql_alone?(host) && context.scoped_context.merged_context.equal?(UNSCOPED)

        context[key]
      end

      def plain?(found)
        SCALARS.include?(found.class) || (found.instance_of?(Array) && found.all? { |it| SCALARS.include?(it.class) })
      end

      def record?(found) = ActiveRecord::Base === found && ReturnedValue.just?(found, found.class)

      def reads_columns?(record, name)
        columns = PlainModel.of(record.class).columns_of(name)
        !columns.nil? && columns.all? { |column| record.has_attribute?(column) }
      end
    end
  end
end
