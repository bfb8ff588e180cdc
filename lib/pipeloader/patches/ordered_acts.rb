# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: what partials of a collection write that is the page's, when a controller first asks for Collections: see HOSTS
    # Since:: ActionView 7.2
    # Why no public seam does it:: they are Hashes, which tell nobody.
    # Falls through when:: the current fiber does no Task.
    #
    # Their methods are called in the order of the items.
    class OrderedActs < Module
      # (A content block, and a cycle, are read as well as written. A form that all partials are given counts its fields.)
      VIEWS = { "ActionView::OutputFlow" => %i[get set append append!],
                "ActionView::Helpers::TextHelper" => %i[get_cycle set_cycle],
                "ActionView::Helpers::AssetTagHelper" => %i[send_preload_links_header],
                "ActionView::Helpers::FormBuilder" => %i[nested_child_index] }.freeze
      # Of classes, and so the process's: form builders change it for the length of a form, in which no other partial may go on.
      SETTINGS = { "ActionView::Base" => %i[field_error_proc=] }.freeze
      CONTROLLERS = { "ActionDispatch::Flash::FlashHash" => %i[[]= update replace delete clear keep discard],
                      "ActionDispatch::Request::Session" => %i[[]= store update merge! delete clear destroy],
                      "ActionDispatch::Cookies::CookieJar" => %i[[]= delete clear],
                      "ActionDispatch::Response::Header" => %i[[]= delete] }.freeze

      def self.install_on(hosts)
        hosts.each { |name, methods| Object.const_get(name).then { |host| host.prepend(new(host, methods)) } }
      end

      def self.install_on_classes(hosts)
        hosts.each do |name, methods|
          host = Object.const_get(name).singleton_class
          host.prepend(new(host, methods, :act_alone))
        end
      end

      # @param methods [Array<Symbol>] of +host+'s
      # @param wait [Symbol] what a ResolverFiber does before
      def initialize(host, methods, wait = :await_turn_to_act)
        super()
        methods.each do |name|
          define_method(name) do |*args, **options, &block|
            ResolverFiber.current&.public_send(wait)
            super(*args, **options, &block)
          end
          private(name) if host.private_method_defined?(name)
        end
      end
    end
  end
end
