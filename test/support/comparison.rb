# frozen_string_literal: true

# What two runs of the same code have left, in a form that can be compared and shown.
module Comparison
  # The keys of sql.active_record's payload that say who, when or where, and not what.
  INCIDENTAL = %i[connection transaction pipeloader exception_object lock_wait].freeze

  class << self
    # Values with their classes, records with what they have loaded.
    def of(value)
      case value
      when ActiveRecord::Base then record(value)
      when ActiveRecord::Relation then value.loaded? ? [value.class.name, value.map { |it| of(it) }] : ["unloaded", value.to_sql]
      when ActiveRecord::Result then ["result", value.columns, value.rows.map { |it| of(it) }, value.cast_values.map { |it| of(it) }]
      when Array then value.map { |it| of(it) }
      when Hash then value.map { |key, it| [of(key), of(it)] }
      when Exception then error(value)
      else "#{value.class} #{value.inspect}"
      end
    end

    # @param payload [Hash] of sql.active_record
    def event(payload)
      payload.except(*INCIDENTAL).merge(
        binds: payload[:binds].map { |it| it.respond_to?(:value_for_database) ? it.value_for_database.inspect : it.inspect },
        type_casted_binds: (payload[:type_casted_binds].respond_to?(:call) ? payload[:type_casted_binds].call : payload[:type_casted_binds]).inspect,
        statement_name: !payload[:statement_name].nil?,
        keys: (payload.keys - [:pipeloader]).sort,
        transaction: payload[:transaction].class
      ).inspect
    end

    private

    def record(record)
      loaded = record.class.reflect_on_all_associations.map(&:name).select { |name| record.association(name).loaded? }
      [record.class.name, record.attributes.transform_values { |it| of(it) }, record.new_record?, record.readonly?,
       loaded.to_h { |name| [name, Array(record.association(name).target).map { |it| [it.class.name, it.id] }] }]
    end

    def error(error)
      # (SoleRecordExceeded's record is a relation, whose `inspect` would read rows in no order.)
      details = %i[sql model primary_key id record].filter_map { |name| [name, of(error.public_send(name))] if error.respond_to?(name) }
      [error.class.name, error.message, details, error.cause&.class.to_s]
    end
  end
end
