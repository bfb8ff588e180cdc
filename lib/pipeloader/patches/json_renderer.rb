# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActionController::Renderers, when a controller first asks for it
    # Since:: ActionPack 7.2
    # Why no public seam does it:: a renderer that is added anew takes the place of Rails' own, and of whatever gem has added one.
    # Falls through when:: the controller doesn't ask for it; what is rendered is no Array or relation, for example what
    #   ActiveModelSerializers has made of one.
    module JSONRenderer
      def _render_with_renderer_json(resource, options)
        super(Collections.together?(self) ? JSONCollection.of(resource, self) : resource, options)
      end
    end
  end
end
