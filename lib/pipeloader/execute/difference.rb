# frozen_string_literal: true

module Pipeloader
  # What a proof has found: a query that is answered differently with Pipeloader and without it. Given to `on_difference` of
  # `Pipeloader.proof`, see docs/proof.md.
  #
  # schema: its class. operation_name, document: the query's. path: ["data", "posts", 0, "title"], the first place, from the top,
  # where the answers differ; [] if one of the executions raised. plain, piped: what each has there, or its exception; nil without
  # `values: true`. plain_sql, piped_sql: what each has sent, without binds. snapshot: whether both have read one snapshot, so
  # that nothing that others have written lies between them
  Difference = Struct.new(:schema, :operation_name, :document, :path, :plain, :piped, :plain_sql, :piped_sql,
                          :snapshot, keyword_init: true) do
    class << self
      # @return [Array<String, Integer>, nil] where two answers differ first; nil where they don't
      def path(plain, piped, path = [])
        case [plain, piped]
        in [Hash, Hash] then of_parts(plain.to_a, piped.to_a, path)
        in [Array, Array] then of_parts(indexed(plain), indexed(piped), path)
        else path unless JSON.generate(plain) == JSON.generate(piped)
        end
      end

      # @return what an answer has at a path; nil for nothing
      def at(answer, path)
        path.inject(answer) { |value, step| value[step] if value.is_a?(Hash) || value.is_a?(Array) }
      end

      private

      # @param plain [Array<Array(Object, Object)>] keys and values, in order
      def of_parts(plain, piped, path)
        [plain.size, piped.size].max.times do |index|
          (key, value), (other_key, other) = plain[index], piped[index]
          return [*path, key || other_key] unless key == other_key

          found = path(value, other, [*path, key])
          return found if found
        end
        nil
      end

      def indexed(values) = values.each_with_index.map { |value, index| [index, value] }
    end

    def reason = "differs #{"in one snapshot " if snapshot}from what graphql-ruby answers#{place}"

    def to_s = "#{[schema.name || schema, operation_name].compact.join(" ")} #{reason}: #{document.to_s.squish}"

    private

    def place = path.empty? ? ", in whether it raises" : " at #{path.join(".")}"
  end
end
