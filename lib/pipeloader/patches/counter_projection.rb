# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Associations::HasManyAssociation
    # Since:: ActiveRecord 7.2; put on when projection is first asked for
    # Why no public seam does it:: a counter cache counts up twice, in the table and then in the owner: what the owner had left
    #   out and fetched only then, would count the new record twice.
    # Falls through when:: the owner was not narrowed, or has no such counter.
    module CounterProjection
      def insert_record(...)
        if @owner.instance_variable_get(:@pipeloader_demand) && reflection.counter_must_be_updated_by_has_many?
          @owner._read_attribute(reflection.counter_cache_column)
        end
        super
      end
    end
  end
end
