# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActionView::CollectionRenderer, when a controller first asks for it
    # Since:: ActionView 7.2
    # Why no public seam does it:: `render collection:` renders one partial after the other in a loop that is its own.
    # Falls through when:: the view's controller doesn't ask for it; there is one item, and not deep inside of others; the
    #   response is streamed; a subclass, such as Jbuilder's, has an iterator of its own; all partials are given one XML document,
    #   or feed, to write to.
    #
    # Limit: what a partial puts into `local_assigns` ends with it.
    module CollectionRenderer
      private

      def collection_with_template(view, template, layout, collection)
        hosts = ::ActionView::CollectionRenderer::CollectionIterator === collection
        hosts && pipeloader_together?(view, collection) ? pipeloader_render_all(view, template, layout, collection) : super
      end

      def pipeloader_render_all(view, template, layout, collection)
        templates = {}
        items = pipeloader_items(collection)
        told = { site: [template ? template.identifier : items.first.first], subjects: items.map { |_, (name), all| all[name] } }
        HostState.new(*pipeloader_hosts(view)).map(items, **told) do |path, keys, locals|
          own = templates[path] ||= template || find_template(path, locals.keys + keys)
          pipeloader_around { pipeloader_render(view, own, layout, keys, locals) }
        end
      rescue ::ActionView::ActionViewError => e
        # No template has failed, but the look-up of one: the page's line is told by frames that the fiber hasn't.
        e.set_backtrace([*e.backtrace, *caller]) unless ::ActionView::Template::Error === e
        raise
      end

      def pipeloader_together?(view, collection)
        Collections.blocks?(collection) && Collections.in?(view) && @locals.none? { |_, it| Collections.writer?(it) }
      end

      def pipeloader_hosts(view) = Collections.hosts(view)

      def pipeloader_around = yield

      # As the host's loop has them: what an item's partial is called, is there for the partials behind it.
      #
      # @return [Array<Array(String, Array<Symbol>, Hash)>] for each its partial, the names of its locals, and all locals
      def pipeloader_items(collection)
        iteration = ::ActionView::PartialIteration.new(collection.size)
        collection.each_with_info.map do |object, (path, *keys)|
          keys.zip([object, iteration.index, iteration.dup]) { |key, value| @locals[key] = value }
          iteration.iterate!
          [path, keys, @locals.dup]
        end
      end

      def pipeloader_render(view, template, layout, keys, locals)
        content = template.render(view, locals, implicit_locals: keys.drop(1))
        content = layout.render(view, locals) { content } if layout
        build_rendered_template(content, template)
      end
    end
  end
end
