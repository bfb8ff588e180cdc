# frozen_string_literal: true

module Pipeloader
  # Tells, without reading a record, whether what an association leads to can be read at all: whether its model, that one's table
  # and its columns are there. Where they aren't, whoever reads the records gets ActiveRecord's own error.
  module Readable
    class << self
      # @return [String, nil] why ActiveRecord can't find the association's model or keys, or does more; nil if that is all
      def objection(reflection)
        unreadable(reflection.name) do
          reflection.check_validity!
          look_at(reflection.klass) unless reflection.polymorphic?
        end || told(reflection)
      end

      # @return [String, nil] why a +model+'s columns can't be known: its database may be out of reach
      def objection_to_table(model) = unreadable(model.name) { look_at(model) }

      private

      # Whether there is a table can be asked without failing, which would end a transaction that is open.
      def look_at(model)
        raise ActiveRecord::StatementInvalid, "#{model.name} has no table" unless model.abstract_class? || model.table_exists?

        model.columns_hash unless model.abstract_class?
      end

      # @return [String, nil] what the block raises, by the errors of whichever adapter
      def unreadable(name)
        yield
        nil
      rescue StandardError => e
        raise if TimedOut === e || Attempt.struck?

        "`#{name}` can't be read: #{e.message.lines.first.chomp}"
      end

      def told(reflection)
        return "`#{reflection.name}` is declared by an abstract class" if reflection.active_record.abstract_class?

        old = [*reflection.try(:deprecated?), *reflection.try(:deprecated_nested_reflections)] # from ActiveRecord 8.1 on
        "`#{reflection.name}` is deprecated" if old.any?
      end
    end
  end
end
