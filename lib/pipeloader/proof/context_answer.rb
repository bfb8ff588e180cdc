# frozen_string_literal: true

module Pipeloader
  # What there is for a ContextValue in a query's context, where asking for it does nothing else: a plain value, or a record of
  # which columns are asked.
  class ContextAnswer
    SCALARS = [String, Integer, NilClass, Symbol, TrueClass, FalseClass, Float, BigDecimal, Date, Time,
               ActiveSupport::TimeWithZone].freeze
    # What ActiveRecord takes for a condition's value, whatever the column.
    CONDITIONS = [String, Integer, NilClass, Symbol, TrueClass, FalseClass].freeze
    # Where no scope was set, see GraphQL::Query::Context#scoped_set!.
    UNSCOPED = GraphQL::EmptyObjects::EMPTY_HASH
    # How far it is looked into Arrays and Hashes, whose entries are Arrays.
    LEVELS = 6
    private_constant :SCALARS, :CONDITIONS, :UNSCOPED, :LEVELS

    class << self
      # @param value [ContextValue]
      # @return [Object] what may be a condition's value
      # @raise [DoesNotFit] where code of the application's would run, or raise
      def of(value, context)
        found = walk(value, context) { raise DoesNotFit }
        plain?(found, CONDITIONS) || record?(found) ? found : raise(DoesNotFit)
      end

      # @param values [Array<ContextValue>]
      # @raise [DoesNotFit] where code of the application's would run
      def verify_all(values, context) = values.each { |value| verify(value, context) }

      # As above, one.
      def verify(value, context)
        found = walk(value, context) { return } # it raises, and that is all
        raise DoesNotFit unless plain_through?(found) || (value.truth? && record?(found))
      end

      # True if it is a value, or an Array or a Hash of such, as methods that compute may be given.
      def plain_through?(found, levels = LEVELS)
        plain?(found, SCALARS) ||
          (levels.positive? && collects?(found) && found.all? { |it| plain_through?(it, levels - 1) })
      end

      private

      # @yield where a call raises
      def walk(value, context)
        value.calls.inject(read(value, context)) do |found, call|
          return nil if NilClass === found && call.safe

          raise DoesNotFit unless harmless?(found, call.name)

          begin
            found.public_send(call.name)
          rescue StandardError => e
            raise e unless DoesNotFit === DoesNotFit.verdict(e) { found.public_send(call.name) }

            yield
          end
        end
      end

      # Of nil anything: at most it raises.
      def harmless?(found, name)
        return KnownMethods.callable?(name) || (NilClass === found && !found.respond_to?(name, true)) if plain_through?(found)

        record?(found) && reads_columns?(found, name)
      end

      def read(value, context)
        raise DoesNotFit if value.over?

        way = value.way or return value.source.read

        given = given(context, way.by)
        raise DoesNotFit if way.needs? && !given.key?(value.source)

        way.ask(context, value.source)
      end

      # @param by [Symbol] method by which it is asked
      # @return [Hash] what the application has given
      def given(context, by)
        given = context.instance_variable_get(:@provided_values)
        graphqls = Provenance.graphql_alone?(context.class.instance_method(by)) && ReturnedValue.just?(context, context.class)
        raise DoesNotFit unless graphqls && given.instance_of?(Hash) && context.scoped_context.merged_context.equal?(UNSCOPED)

        given
      end

      # A Hash may have code for what isn't there.
      def collects?(found)
        ReturnedValue.just?(found, Array) || (ReturnedValue.just?(found, Hash) && found.default_proc.nil? && found.default.nil?)
      end

      # It isn't asked itself, as it may be a proxy.
      def plain?(found, types)
        types.any? { |type| ReturnedValue.just?(found, type) } ||
          (ReturnedValue.just?(found, Array) && found.all? { |it| types.any? { |type| ReturnedValue.just?(it, type) } })
      end

      def record?(found) = ReturnedValue.record?(found) && ReturnedValue.just?(found, found.class)

      def reads_columns?(record, name)
        return false unless Provenance.active_record_alone?(record.class.instance_method(:has_attribute?))

        columns = PlainModel.of(record.class).columns_of(name)
        !columns.nil? && columns.all? { |column| record.has_attribute?(column) }
      end
    end
  end
end
