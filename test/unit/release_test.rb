# frozen_string_literal: true

require "rubygems"
require_relative "../support/unit_helper"

# What is published, and what bin/test --quick chooses.
class ReleaseTest < UnitTest
  ROOT = File.expand_path("../..", __dir__)
  QUICK = File.readlines("#{ROOT}/test/quick.txt", chomp: true).freeze

  def spec = @spec ||= Gem::Specification.load("#{ROOT}/pipeloader.gemspec")
  def read(path) = File.read("#{ROOT}/#{path}")

  def test_quick_takes_some_of_each_room
    assert_empty(QUICK.reject { |path| File.file?("#{ROOT}/#{path}") })
    rooms = Dir["#{ROOT}/lib/pipeloader/*/"].map { |room| File.basename(room) }
    with_tests = rooms.select { |room| Dir["#{ROOT}/test/#{room}/*_test.rb"].any? }
    assert_empty with_tests - ["patches"] - QUICK.map { |path| path[%r{\Atest/(\w+)/}, 1] }
  end

  # Either what comes next, or what is published with this version.
  def test_the_changelog_begins_with_this_version
    top = read("CHANGELOG.md")[/^## (.*)$/, 1]
    assert_match(/\A(?:Unreleased|#{Regexp.escape(spec.version.to_s)} \(\d{4}-\d\d-\d\d\))\z/, top)
  end

  def test_packed
    top = spec.files.map { |path| path.split("/").first }.uniq
    assert_equal %w[CHANGELOG.md LICENSE README.md SECURITY.md UPGRADING.md docs lib sig], top.sort
    assert_empty(spec.files.grep(%r{\Adocs/}).grep_v(/\.md\z/))
    code = Dir.chdir(ROOT) { Dir["{lib,sig}/**/*"].select { |path| File.file?(path) } }
    assert_empty code - spec.files, "not packed; in git?"
  end

  # A page that nobody is led to needn't be packed, nor written. From README, over any number of pages.
  def test_each_page_is_linked
    pages = spec.files.grep(/\.md\z/)
    led_to = ["README.md"]
    led_to.each { |page| led_to.concat(links(page) & (pages - led_to)) }
    assert_empty pages - led_to
  end

  def test_links_lead_somewhere
    broken = spec.files.grep(/\.md\z/).flat_map do |page|
      links(page).reject { |path| File.exist?("#{ROOT}/#{path}") }.map { |path| "#{page} links to #{path}" }
    end
    assert_empty broken
  end

  # It can be installed where its oldest Ruby is, and asks for no more than it says in docs.
  def test_what_it_needs
    assert spec.required_ruby_version.satisfied_by?(Gem::Version.new("3.1.0"))
    assert_equal %w[activerecord graphql], spec.runtime_dependencies.map(&:name).sort
    assert_equal "true", spec.metadata["rubygems_mfa_required"]
  end

  private

  # Paths from the root: of links, and of pages named in backticks.
  def links(page)
    text = read(page)
    linked = text.scan(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/).flatten.map { |path| File.expand_path(path, "/#{File.dirname(page)}").delete_prefix("/") }
    named = text.scan(%r{`((?:docs/)?[\w-]+\.md)`}).flatten
    linked + named.map { |path| File.exist?("#{ROOT}/#{path}") ? path : "#{File.dirname(page)}/#{path}" }
  end
end
