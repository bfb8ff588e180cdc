# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/web_case"
require "pathname"
require "tmpdir"

# What has changed since the revision before.
class RevisionsTest < PipeloaderTest
  include WebCase

  NAMED = "query Named { posts { title author { name } authorName } }"

  # As Rails.cache.
  class Store
    attr_reader :all

    def initialize = @all = {}
    def read(name) = @all[name]
    def write(name, text) = @all[name] = text
  end

  def setup
    super
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "tmp", "pipeloader.json")
  end

  def teardown
    Pipeloader.revision = nil
    Pipeloader::Web.history = nil
    FileUtils.remove_entry(@folder)
    super
  end

  # A process of that revision begins.
  def deploy(revision, place = @path)
    Pipeloader.revision = revision
    Pipeloader::Web.clear
    Pipeloader::Web.history = place
  end

  # As `config.pipeloader.revision` is read behind initializers.
  def test_a_revision_that_is_known_later
    deploy(false)
    Pipeloader.revision = "one"
    piped.execute(NAMED)
    assert_equal "one", json("/operations.json")[:revision]
    assert_equal ["one"], kept.keys
  end

  def change = operations.first[:change]
  def response(bursts, statements) = Struct.new(:bursts, :statements).new(bursts, statements)
  def kept = JSON.parse(File.read(@path))

  def test_before_and_now
    deploy("one")
    2.times { piped.execute(NAMED) }
    once = operations.first
    assert_nil once[:change]
    deploy("two")
    piped.execute("query Named { posts { title author { name } } }")
    now = operations.first
    assert_equal({ revision: "one", **once.slice(:executions, :round_trips, :statements), compiled: 3, fields: 4 }, now[:change][:before])
    assert_equal({ revision: "two", **now.slice(:executions, :round_trips, :statements), compiled: 3, fields: 3 }, now[:change][:now])
    assert_equal now[:change], details[:change]
    assert_equal ["two", nil], json("/operations.json").values_at(:revision, :failure)
  end

  # Processes of one revision add up; after each look, too.
  def test_processes
    deploy("one")
    3.times { [piped.execute(NAMED), operations] }
    deploy("one")
    2.times { piped.execute(NAMED) }
    assert_nil change
    assert_equal 5, kept.dig("one", "operations").values.sum { |it| it["executions"] }
    deploy("two")
    piped.execute(NAMED)
    assert_equal [5, 1], change.values_at(:before, :now).map { |it| it[:executions] }
  end

  def test_processes_at_the_same_time
    stores = Array.new(4) { Pipeloader::Revisions.new(Pipeloader::RevisionStore.of(@path), "one") }
    stores.map { |it| Thread.new { 25.times { [it.executed("a b", response(2, 3)), it.write] } } }.each(&:join)
    assert_equal({ "executions" => 100, "round_trips" => 200, "statements" => 300 }, kept.dig("one", "operations", "a b"))
    assert_equal %w[pipeloader.json pipeloader.json.lock], Dir.children(File.dirname(@path)).sort
  end

  # After a rollback the revision that was taken back is what was before.
  def test_a_rollback
    %w[one two one].each { |it| [deploy(it), piped.execute(NAMED), operations] }
    assert_equal %w[two one], change.values_at(:before, :now).map { |it| it[:revision] }
  end

  def test_operations_without_a_name
    %w[one two].each { |it| [deploy(it), piped.execute("{ posts { title } }"), operations] }
    assert_equal 1, change[:before][:executions]
    Pipeloader::Web.clear
    piped.execute("{ posts { title likes } }")
    assert_nil change
  end

  def test_a_store
    store = Store.new
    %w[one two].each { |it| [deploy(it, store), piped.execute(NAMED), operations] }
    assert_equal "one", change[:before][:revision]
    assert_equal ["pipeloader/revisions"], store.all.keys
  end

  # -- off -----------------------------------------------------------------------------------------------------------------

  def test_no_revision
    deploy(false)
    piped.execute(NAMED)
    assert_equal [nil, nil, false], [json("/operations.json")[:revision], change, File.exist?(@path)]
  end

  def test_no_place
    deploy("one", nil)
    piped.execute(NAMED)
    assert_equal [nil, nil], [json("/operations.json")[:revision], change]
    [1, Object.new].each { |it| assert_raises(ArgumentError) { Pipeloader::Web.history = it } }
  end

  # -- what may go wrong ---------------------------------------------------------------------------------------------------

  def test_what_is_kept_is_of_somebody_else
    FileUtils.mkdir_p(File.dirname(@path))
    ["", "[]", "{", '{"x":1}', '{"x":{"began":"a"}}', '{"one":{"operations":{"RevisionsTest Named":3}}}', '{"one":{"began":1,"operations":[]}}',
     %({"x":{"began":1,"operations":{"a":4}}}), %("#{"x" * 1_100_000}"), "\xff"].each do |text|
      File.binwrite(@path, text)
      deploy("one")
      piped.execute(NAMED)
      assert_nil json("/operations.json")[:failure], text[0, 80]
      assert_equal ["one"], kept.keys, text[0, 80]
    end
  end

  # The response doesn't hear of it.
  def test_nothing_can_be_written
    File.write(File.join(@folder, "tmp"), "no folder")
    deploy("one")
    assert_nil piped.execute(NAMED).to_h["errors"]
    assert_match(/Errno::/, json("/operations.json")[:failure])
  end

  def test_what_could_not_be_written_is_written_later
    store = Store.new
    revisions = Pipeloader::Revisions.new(Pipeloader::RevisionStore.of(store), "one")
    revisions.executed("a", response(2, 3))
    store.stub(:write, ->(*) { raise IOError, "gone" }) { assert_raises(IOError) { revisions.write } }
    assert_nil revisions.change("a")
    revisions.executed("a", response(2, 3))
    revisions.write
    assert_equal({ "executions" => 2, "round_trips" => 4, "statements" => 6 }, JSON.parse(store.all.values.first).dig("one", "operations", "a"))
    most = Pipeloader::Revisions::MOST_OPERATIONS
    store.stub(:write, ->(*) { raise IOError, "gone" }) do
      3.times { |part| [most.times { |it| revisions.executed("#{part} #{it}", response(1, 1)) }, assert_raises(IOError) { revisions.write }] }
    end
    assert_operator revisions.instance_variable_get(:@more).size, :<=, most
  end

  # Requests don't wait for a process that writes, or was stopped while it did; who looks at the page does.
  def test_another_process_writes
    time = 0.0
    revisions = Pipeloader::Revisions.new(Pipeloader::RevisionStore.of(@path), "one")
    revisions.write
    revisions.executed("a", response(2, 3))
    File.open("#{@path}.lock") do |lock|
      lock.flock(File::LOCK_EX)
      time = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
      Process.stub(:clock_gettime, ->(*) { time }) { Timeout.timeout(20) { revisions.write_if_due } }
      assert_empty kept.dig("one", "operations")
    end
    revisions.write
    assert_equal 1, kept.dig("one", "operations", "a", "executions")
  end

  # What threads of a new process count at first is one's and the same.
  def test_first_of_several_threads
    recorder = Pipeloader::Recorder.new
    recorder.history = Pipeloader::RevisionStore.of(Store.new)
    slow = lambda do
      Thread.pass
      sleep(0.01)
      "one"
    end
    found = Pipeloader::Revision.stub(:current, slow) { Array.new(4) { Thread.new { recorder.send(:revisions) } }.map(&:value) }
    assert_equal 1, found.uniq(&:__id__).size
  end

  def test_bounds
    most = Pipeloader::Revisions::MOST_OPERATIONS
    8.times do |at|
      revisions = Pipeloader::Revisions.new(Pipeloader::RevisionStore.of(Pathname(@path)), "revision #{at}")
      2.times { |part| [(most + 10).times { |it| revisions.executed("#{part} #{it}", response(1, 1)) }, revisions.write] }
    end
    assert_equal [%w[5 6 7].map { |it| "revision #{it}" }, [most] * 3], [kept.keys.sort, kept.values.map { |it| it["operations"].size }]
  end

  # By requests alone, not oftener than that.
  def test_how_often_it_is_written
    time = 0.0
    Process.stub(:clock_gettime, ->(*) { time }) do
      written = 0
      store = Object.new
      store.define_singleton_method(:change) { |_wait, &block| block.call({}).tap { written += 1 } }
      revisions = Pipeloader::Revisions.new(store, "one")
      counts = Array.new(30) { |at| [time = at.to_f, revisions.executed("a", response(1, 1)), revisions.write_if_due, written].last }
      assert_equal [0, 1, 2], counts.uniq
      assert_equal 10, counts.index(1)
    end
  end

  # -- which revision it is ------------------------------------------------------------------------------------------------

  NAMES = %w[GIT_SHA KAMAL_VERSION HEROKU_SLUG_COMMIT HEROKU_BUILD_COMMIT RENDER_GIT_COMMIT RAILWAY_GIT_COMMIT_SHA SOURCE_COMMIT].freeze

  def with_environment(given)
    before = NAMES.to_h { |name| [name, ENV.fetch(name, nil)] }
    ENV.update(before.transform_values { nil }.merge(given))
    Pipeloader.revision = nil
    yield
  ensure
    ENV.update(before)
  end

  def test_what_the_host_says
    assert_equal(NAMES, NAMES.map { |name| with_environment(name => " #{name}\n") { Pipeloader.revision } })
    assert_equal "a", with_environment("GIT_SHA" => "a", "KAMAL_VERSION" => "b") { Pipeloader.revision }
    assert_equal "b", with_environment("GIT_SHA" => "", "KAMAL_VERSION" => "b") { Pipeloader.revision }
    assert_nil with_environment({}) { Pipeloader.revision }
  end

  def test_the_file
    root = @folder
    File.write(File.join(root, "REVISION"), "3f2a91c\n")
    stand_in = Module.new { define_singleton_method(:root) { Pathname(root) } }
    with_environment({}) { with_constant(stand_in) { assert_equal "3f2a91c", Pipeloader.revision } }
    with_environment("GIT_SHA" => "a") { with_constant(stand_in) { assert_equal "a", Pipeloader.revision } }
    File.delete(File.join(root, "REVISION"))
    with_environment({}) { with_constant(stand_in) { assert_nil Pipeloader.revision } }
  end

  def test_what_is_set
    with_environment("GIT_SHA" => "a") do
      Pipeloader.configure(revision: "b")
      assert_equal "b", Pipeloader.revision
      Pipeloader.revision = false
      assert_nil Pipeloader.revision
      Pipeloader.revision = nil
      assert_equal "a", Pipeloader.revision
      assert_raises(ArgumentError) { Pipeloader.revision = 12 }
    end
  end
end
