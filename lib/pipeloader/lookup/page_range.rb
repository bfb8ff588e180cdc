# frozen_string_literal: true

module Pipeloader
  # Which rows a connection shows.
  #
  # @!attribute offset [Integer]
  # @!attribute most [Integer, nil] how many; nil for all
  PageRange = Struct.new(:offset, :most) do
    class << self
      # @yieldreturn [GraphQL::Pagination::ActiveRecordRelationConnection]
      # @return [PageRange] raises DoesNotFit for one that is read from its end, is empty, or begins nowhere
      def of(&connection)
        cut(connection.call)
      rescue StandardError => e # of a cursor, or the application's, which may say how long a page is
        raise Coercion.verdict(e) { cut(connection.call) }
      end

      private

      def cut(connection)
        after, most = connection.send(:after_offset), connection.first
        backwards = connection.last || connection.before
        raise DoesNotFit if !ReturnedValue.connection?(connection) || backwards || after&.<=(0)
        raise DoesNotFit unless most.nil? || (most.is_a?(Integer) && most.positive?)

        new(after || 0, most)
      end
    end

    # How many rows are read; one more tells whether there is another page.
    def limit(peeks) = peeks && most ? most + 1 : most

    # @return [Array<Array>] of those that were read
    def shown(rows) = most ? rows.first(most) : rows
  end
end
