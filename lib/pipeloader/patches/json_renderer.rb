# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActionController::Renderers, when a controller first asks for it
    # Since:: ActionPack 7.2
    # Why no public seam does it:: a renderer that is added anew takes the place of Rails' own, and of whatever gem has added one.
    # Falls through when:: the controller doesn't ask for it; what is rendered is no Array or relation, for example what
    #   ActiveModelSerializers has made of one; the application has added a renderer of its own, which may ask for more than JSON.
    module JSONRenderer
      def _render_with_renderer_json(resource, options)
        together = Collections.together?(self) && pipeloader_rails_own?
        super(together ? JSONCollection.of(resource, self) : resource, options)
      end

      private

      def pipeloader_rails_own?
        renderers = ::ActionController::Renderers
        renderer = renderers.instance_method(:_render_with_renderer_json).super_method
        renderer.source_location.first == renderers.method(:add).source_location.first
      end
    end
  end
end
