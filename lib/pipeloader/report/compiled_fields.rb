# frozen_string_literal: true

module Pipeloader
  # Which of some fields were compiled while a block was recorded, and why others weren't:
  #
  #     Post.excerpt: by graphql-ruby (resolver method `excerpt` on Types::Post; `excerpt` calls `render`), app/types/post.rb:12
  class CompiledFields
    # @param names [Array<String>] "Post.author"
    # @param ledger [Ledger] that explains
    def initialize(names, ledger)
      raise ArgumentError, 'say which fields: "Post.author", …' if names.empty?

      @names = names
      @found = {} # {"Post.author" => [Hash, as Explanation has them]}
      ledger.explanations.each { |explanation| gather(explanation.to_h[:fields]) }
    end

    # True if each was selected, and written by a plan wherever it was.
    def all? = @names.all? { |name| @found[name]&.all? { |field| field[:compiled] } }

    # True if each was selected, brought something, and none was written by a plan.
    def none?
      @names.all? do |name|
        found = @found[name]
        found&.none? { |field| field[:compiled] } && found.any? { |field| field[:reason] != Explanation::NOTHING }
      end
    end

    # @return [String] what was expected, and what became of each
    def complaint(these = "these") = ["expected #{these} to be compiled:", *@names.flat_map { |name| lines(name) }].join("\n")

    private

    def gather(fields)
      fields.each do |field|
        (@found[field[:field]] ||= []) << field
        gather(field[:fields]) if field[:fields]
      end
    end

    def lines(name)
      return "  #{name}: no query that Pipeloader has executed selects it" unless @found[name]

      @found[name].map { |field| "  #{name}: #{field[:compiled] ? "compiled" : CodeLocation.text(field)}" }.uniq
    end
  end
end
