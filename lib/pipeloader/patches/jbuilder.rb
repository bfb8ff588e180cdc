# frozen_string_literal: true

module Pipeloader
  module Patches
    # How Jbuilder's lists are read together in controllers that ask for it.
    module Jbuilder
      # Host:: Jbuilder::CollectionRenderer, when a controller first asks for it
      # Since:: Jbuilder 2.14
      # Why no public seam does it:: as for CollectionRenderer. All partials write to one JbuilderTemplate.
      # Falls through when:: CollectionRenderer does.
      module Partials
        private

        def collection_with_template(view, template, layout, collection)
          return super unless pipeloader_together?(view, collection)

          pipeloader_render_all(view, template, layout, collection)
        end

        def pipeloader_hosts(view) = [*super, [json, Collections::JBUILDER]]

        def pipeloader_around
          rendered = nil
          @scope.call { rendered = yield }
          rendered
        end
      end

      # A list whose `map` reads together.
      Together = Struct.new(:hosts, :list, :site) do
        def map(&block) = HostState.new(*hosts).map(list, site: site, &block)
      end
      private_constant :Together

      # Host:: JbuilderTemplate, when a controller first asks for it
      # Since:: Jbuilder 2.14
      # Why no public seam does it:: `json.array!(posts) { … }` calls its block in a loop that is its own.
      # Falls through when:: CollectionRenderer does.
      module Lists
        private

        def _map_collection(collection, &block)
          return super unless Collections.in?(@context)

          values = collection.map { |value| value }
          hosts = [*Collections.hosts(@context), [self, Collections::JBUILDER]]
          super(Collections.blocks?(values) ? Together.new(hosts, values, block) : values)
        end
      end
    end
  end
end
