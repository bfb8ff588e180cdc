# frozen_string_literal: true

module Pipeloader
  # As Lookup, of the records of one class that a polymorphic `belongs_to` leads to.
  class TargetLookup < Lookup
    # @return [ActiveRecord::Reflection::BelongsToReflection] as if it led to no other class
    def self.reflection(polymorphic, model)
      known = polymorphic.instance_variable_get(:@pipeloader_targets) ||
              polymorphic.instance_variable_set(:@pipeloader_targets, {}.compare_by_identity)
      known[model] ||= begin
        options = polymorphic.options.except(:polymorphic, :foreign_type, :inverse_of)
        options = { **options, anonymous_class: model, foreign_key: polymorphic.foreign_key, inverse_of: false }
        ActiveRecord::Reflection.create(:belongs_to, polymorphic.name, polymorphic.scope, options, polymorphic.active_record)
      end
    end

    private

    def asked = @reflection
  end
end
