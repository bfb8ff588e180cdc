# frozen_string_literal: true

require_relative "lib/pipeloader/version"

Gem::Specification.new do |spec|
  spec.name = "pipeloader"
  spec.version = Pipeloader::VERSION
  spec.summary = "GraphQL on ActiveRecord in as few round trips as the query is deep"
  spec.description = "With one line in a graphql-ruby schema, every ActiveRecord read of a response goes through libpq's " \
                     "pipeline mode. Types, resolvers and models stay as they are."
  spec.authors = ["The Pipeloader authors"]
  spec.license = "MIT"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  # Without git (a downloaded archive, a container's copy) the same folders are listed from the disk. Of docs/ without
  # the pictures.
  spec.files = Dir.chdir(__dir__) do
    published = %w[lib sig docs README.md CHANGELOG.md LICENSE SECURITY.md UPGRADING.md]
    tracked = IO.popen(["git", "ls-files", "-z", "--", *published], err: File::NULL, &:read).split("\0") rescue []
    listed = tracked.any? ? tracked : Dir[*published, "{lib,sig,docs}/**/*"].select { |path| File.file?(path) }
    listed.grep_v(/\Adocs\/.*(?<!\.md)\z/)
  end

  # The public API; all else in lib/ is internal. YARD and rubydoc.info read the same from .yardopts.
  spec.extra_rdoc_files = %w[README.md CHANGELOG.md]
  spec.rdoc_options = [
    "--main", "README.md",
    "--exclude", "lib/pipeloader/(?!active_record|base$|base/errors|minitest|rspec|report$|report/explanation|version)"
  ]

  spec.required_ruby_version = ">= 3.1"
  spec.add_dependency "activerecord", ">= 7.2", "< 8.2"
  spec.add_dependency "graphql", ">= 2.5.2", "< 2.7"

  # Not a runtime dependency: on SQLite Pipeloader works without it, and an application on PostgreSQL has it already.
  spec.add_development_dependency "pg", ">= 1.5", "< 2"
end
