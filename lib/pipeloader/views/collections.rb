# frozen_string_literal: true

require "active_support/concern"
require "active_support/core_ext/class/attribute"

module Pipeloader
  # For controllers, and mailers: what their actions render of a collection, `render @posts`, `render partial:, collection:`,
  # `render json: posts`, reads together, as the blocks of Pipeloader.map do. See docs/gather.md.
  #
  #     class PostsController < ApplicationController
  #       include Pipeloader::Collections
  #       pipeloader_collections only: %i[index show] # without this line: all actions
  #     end
  #
  # `config.pipeloader.collections = true` is the same for all, and for views without a controller.
  module Collections
    extend ActiveSupport::Concern

    # What ActionView::Base changes for the length of a template, or of `render formats:`.
    VIEW = %i[@output_buffer @virtual_path @current_template @view_renderer @lookup_context].freeze
    # What helpers change in a LookupContext, by `formats=` say, and put back behind a block.
    LOOKUP = %i[@details @details_key @digest_cache].freeze
    # What Jbuilder changes for the length of a block.
    JBUILDER = %i[@attributes @key_formatter @ignore_nil @deep_format_keys].freeze

    class << self
      # Called when a controller is the first that asks for it.
      attr_accessor :installation

      # True if what +controller+ renders of a collection is read together.
      #
      # @param controller [AbstractController::Base, nil] or whatever else a view has
      def together?(controller)
        return false if Pipeloader.disabled?

        controller.is_a?(Collections) ? controller.send(:pipeloader_collections?) : Pipeloader.collections
      end

      # As #together?, of what +view+ renders. What is streamed goes one after the other.
      def in?(view)
        ::ActionView::Base === view && view.view_flow.instance_of?(::ActionView::OutputFlow) && together?(view.controller)
      end

      # True if each of +values+ is a block: of several, or where a fiber's stack may end.
      def blocks?(values) = values.size > 1 || (values.size == 1 && !ResolverFiber.current.nil? && ResolverFiber.current.deep?)

      # True of what writes as it is called: an XML document's builder, or a feed's.
      def writer?(value)
        return true if defined?(::Builder::XmlBase) && ::Builder::XmlBase === value

        ::ActionView::Helpers::AtomFeedHelper::AtomBuilder === value
      end

      # @return [Array] of +view+, as HostState's
      def hosts(view)
        lookup = view.lookup_context
        lookup.digest_cache # with it there, whoever changes details makes a new Hash
        [[view, VIEW], [lookup, LOOKUP]]
      end
    end

    included do
      class_attribute :pipeloader_actions, instance_accessor: false, instance_predicate: false, default: ->(_name) { true }
      Collections.installation.call
    end

    # :nodoc:
    module ClassMethods
      # Which actions do so: all, none (`pipeloader_collections false`), these, or all but these.
      #
      #: (?bool, ?only: (Symbol | Array[Symbol])?, ?except: (Symbol | Array[Symbol])?) -> void
      def pipeloader_collections(on = true, only: nil, except: nil)
        only &&= Array(only).map(&:to_s)
        except = Array(except).map(&:to_s)
        self.pipeloader_actions = ->(name) { on && (only.nil? || only.include?(name)) && !except.include?(name) }
      end
    end

    private

    def pipeloader_collections? = self.class.pipeloader_actions.call(action_name)
  end
end
