# frozen_string_literal: true

module Pipeloader
  # Which field asks for something now, and in which line of the application's code:
  #
  #     Post.audits, app/services/audits.rb:12
  #
  # A line of a resolver, or of what that calls; where graphql-ruby reads what a resolver has returned, the line that defines the
  # resolver. Outside of a response, the line that is nearest.
  CallSite = Struct.new(:field, :line) do
    class << self
      # Looks at the callers, which takes some 50 µs.
      #
      #: () -> CallSite
      def current
        field = GraphQL::Current.field
        source = GraphQL::Current.dataloader_source_class
        new((source || field&.path)&.to_s, line_of_code(field, source))
      end

      private

      def line_of_code(field, source)
        frames = caller_locations
        frames = frames.take_while { |frame| !Provenance.file_of?(GraphQL, frame.path.to_s) } if field || source
        found = frames.find { |frame| applications?(frame.absolute_path || frame.path.to_s) }
        return CodeLocation.line(found.absolute_path || found.path, found.lineno) if found

        file, number = CodeLocation.source_of(field) if field && !source
        CodeLocation.line(file, number) if file
      end

      def applications?(path) = path.start_with?("/") && !path.start_with?(*libraries)

      # Of gems, Ruby's own, and ours.
      def libraries
        @libraries ||= [*Gem.path, Gem.default_dir, RbConfig::CONFIG["rubylibprefix"], File.expand_path("..", __dir__)].map { |it| "#{it}/" }
      end
    end

    def to_s = [field, line].compact.join(", ")
  end
end
