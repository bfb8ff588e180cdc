# frozen_string_literal: true

module Pipeloader
  # Which revision of the application runs: what it says itself, else what its host says.
  module Revision
    # Of Docker builds, Kamal, Heroku, Render, Railway and Coolify.
    NAMES = %w[GIT_SHA KAMAL_VERSION HEROKU_SLUG_COMMIT HEROKU_BUILD_COMMIT RENDER_GIT_COMMIT RAILWAY_GIT_COMMIT_SHA
               SOURCE_COMMIT].freeze
    FILE = "REVISION" # as Capistrano and Rails have it
    LONGEST = 100
    private_constant :NAMES, :FILE, :LONGEST

    class << self
      # @return [String, nil] nil where none is known
      def current
        return @current if defined?(@current)

        @current = known(NAMES.filter_map { |name| ENV[name].presence }.first || from_file)
      end

      # @param value [String, false, nil] false for none; nil for what the host says
      # @raise [ArgumentError]
      def current=(value)
        case value
        when String, false then @current = known(value || nil)
        when nil then remove_instance_variable(:@current) if defined?(@current)
        else raise ArgumentError, "revision must be a String, false or nil, got #{value.class}"
        end
      end

      private

      def known(text) = text&.scrub&.strip&.slice(0, LONGEST).presence

      def from_file
        root = ::Rails.root if defined?(::Rails) && ::Rails.respond_to?(:root)
        File.read(File.join(root, FILE), LONGEST) if root
      rescue SystemCallError
        nil
      end
    end
  end
end
