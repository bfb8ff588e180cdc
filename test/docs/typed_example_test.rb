# frozen_string_literal: true

require_relative "../support/test_helper"
require "open3"

# examples/typed runs, so what steep compares sig/ with is true. In a process of its own: it sets what holds for a whole process.
class TypedExampleTest < PipeloaderTest
  PROGRAM = <<~RUBY
    require "json"
    require "./examples/typed/application"
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define { create_table(:authors) { |t| t.string(:name) } }
    TypedExample::Author.create!(name: "Ann")
    service = TypedExample::Service.new
    said = (service.public_methods(false) - [:page]).sort.to_h { |it| [it, service.public_send(it)] }
    said[:page] = service.page.first
    said[:middlewares] = TypedExample::Middlewares.new.call.first
    said[:asserted] = TypedExample::Trips.new("asserted").asserted
    said[:other] = TypedExample::OtherSchema.execute(TypedExample::Service::TEXT).to_h
    TypedExample::Settings.new.tap(&:call).then { |it| said[:names] = it.names }
    said[:values] = TypedExample::Settings.new.values
    said[:allowed] = service.page.first
    puts JSON.generate(said)
  RUBY

  SAID = {
    "authors" => [{ "name" => "Ann" }], "statements" => 0, "lengths" => 6, "gathered" => 42, "blocks" => [2, 3, 4, 5], "opened" => [], "shared" => [],
    "failing" => "of Pipeloader's own", "page" => 403, "allowed" => 200, "asserted" => 4, "middlewares" => 200
  }.freeze
  ROOT = File.expand_path("../..", __dir__)
  # Rails' controllers, RSpec's matchers, and budgets of whole suites would take their own libraries here.
  WITHOUT = %w[pipeloader_collections make_round_trips send_statements read_at_most have_compiled rows before_setup after_teardown check
               initialize].freeze

  def test_it_uses_all_that_has_a_signature
    promised = File.read("#{ROOT}/sig/pipeloader.rbs").scan(/^ +(?:def (?:self\.)?|attr_reader )(\w+)/).flatten.uniq
    used = File.read("#{ROOT}/examples/typed/application.rb").scan(/\w+/)
    assert_equal WITHOUT.sort, (promised - used).sort
  end

  def test_it_runs
    said, status = Open3.capture2e("bundle", "exec", "ruby", "-w", "-Ilib", "-e", PROGRAM, chdir: ROOT)
    assert_predicate status, :success?, said
    said = JSON.parse(said)
    assert_equal SAID, said.slice(*SAID.keys)
  end
end
