# frozen_string_literal: true

require "active_record"

# Transparent libpq pipelining for ActiveRecord, without graphql-ruby: what blocks of plain Ruby read comes together. See
# docs/gather.md.
#
#     gem "pipeloader", require: "pipeloader/active_record"
#
#     Pipeloader.map(posts) { |post| PostSerializer.new(post).as_json }
module Pipeloader
  @field_exact = @collections = false

  class << self
    # Calls the block for each value, as `values.map` does, so that what the blocks read from PostgreSQL comes together: by as
    # many round trips as one block takes. Inside a resolver, together with what its response reads. See docs/gather.md.
    #
    #     Pipeloader.map(posts) { |post| PostSerializer.new(post).as_json }
    #
    # @param values [Enumerable]
    # @raise what the first block has raised; those behind it are ended where they wait, or don't begin
    #
    #: [T, U] (Enumerable[T]) { (T) -> U } -> Array[U]
    def map(values, &block)
      raise ArgumentError, "Pipeloader.map needs a block" unless block

      Gathering.map(values.to_a, &block)
    end

    # Yields to ask for things of different kinds that are read together. Returns what the block returns, when all are done.
    #
    #     Pipeloader.gather do |gathering|
    #       count = gathering.async { Post.count }
    #       user = gathering.async { User.find(1) }
    #       [count.value, user.value]
    #     end
    #
    # @raise what the block has raised; else what a block of `async` has raised whose value nobody has asked for
    #
    #: [T] () { (Gathering) -> T } -> T
    def gather(&block)
      raise ArgumentError, "Pipeloader.gather needs a block" unless block

      Gathering.open(&block)
    end

    # Reads inside the block go at once, and take along what other fibers have gathered. For code that holds a lock
    # while it reads, or can't be left in the middle for another reason. As it may write, a block of Pipeloader.map or
    # Pipeloader.gather begins it in its turn, where it can wait.
    #
    #: [T] () { () -> T } -> T
    def without_parking(&)
      fiber = ResolverFiber.current
      fiber.await_turn_to_act if fiber&.parks?
      ResolverFiber.at_once(&)
    end

    def at_once(&) = ResolverFiber.at_once(&) # :nodoc:

    # Reads inside the block are sent as they are, each a statement of its own.
    #
    #: [T] () { () -> T } -> T
    def uncoalesced(&block)
      fiber = ResolverFiber.current
      fiber ? fiber.uncoalesced(&block) : yield
    end

    # Responses that begin inside the block are built without Pipeloader; in a resolver, as #without_parking.
    #
    #: [T] () { () -> T } -> T
    def disabled(&block)
      without_parking { Switch.decided(off: true, &block) }
    end

    # What is needed only where fibers park.
    def prepare # :nodoc:
      Patches::Locks.install
      Undivided.watch_compiling { ResolverFiber.current&.parking&.compiled }
    end

    # @return [Hash{Symbol => Object}] what schemas have that don't say otherwise when they `use Pipeloader, …`
    #
    #: () -> Hash[Symbol, untyped]
    def defaults = @defaults || Options::DEFAULTS

    # Sets some of them, for schemas that exist already, too. To be done before these execute anything.
    #
    #     Pipeloader.defaults = { trips: :depth, lanes: 4 }
    #
    # @param given [Hash{Symbol => Object}] names and values as #use takes them
    # @raise [ArgumentError]
    #
    #: (Hash[Symbol, untyped]) -> void
    def defaults=(given)
      Options.check(given)
      Lanes.of(given[:lanes])
      self.field_exact = given[:field_exact] || false if given.key?(:field_exact)
      @defaults = { **Options::DEFAULTS, **given.except(:field_exact) }.freeze
      Patches.install_for(@defaults)
    end

    # An application's settings, as `config.pipeloader` has them.
    def configure(**settings) # :nodoc:
      # Who executes no queries, proves none.
      own = %i[enabled log proof collections revision].select { |name| respond_to?(:"#{name}=") }
      rest = settings.except(*own)
      Options.check(rest, *own)
      self.defaults = rest if rest.any?
      own.each { |name| public_send(:"#{name}=", settings[name]) if settings.key?(name) }
    end

    # True if what Rails renders of a collection, `render @posts`, `render json: posts`, reads together, in all controllers that
    # don't say otherwise. See Collections, and docs/gather.md.
    #
    #: () -> bool
    attr_reader :collections

    # @raise [ArgumentError]
    #
    #: (bool) -> void
    def collections=(on)
      raise ArgumentError, "collections must be true or false, got #{on.inspect}" unless [true, false].include?(on)

      Patches.install_collections if on
      @collections = on
    end

    # True if schemas that use Pipeloader, and don't say themselves, read only the columns that a query selects.
    #
    #: () -> bool
    attr_reader :field_exact

    #: (bool) -> bool
    def field_exact=(on)
      Patches.install_for({ field_exact: on })
      @field_exact = on
    end

    # What is executed with Pipeloader: true, all; false, nothing; 0.05, each execution by this chance; or a callable, which is
    # asked when an execution begins, and may answer by any of these. It gets the `context:` that was given, if it takes an
    # argument. What isn't with Pipeloader, is as inside `Pipeloader.disabled { … }`; so is that for which the callable raises.
    # PIPELOADER=off in the environment wins. See docs/rails.md.
    #
    #     Pipeloader.enabled = ->(context) { Flipper.enabled?(:pipeloader, context[:current_user]) }
    #
    #: () -> (bool | Numeric | ^(?untyped) -> untyped)
    def enabled = Switch.enabled

    # @raise [ArgumentError]
    #
    #: (bool | Numeric | ^(?untyped) -> untyped) -> void
    def enabled=(value)
      Switch.enabled = value
    end

    # What is logged of a response, at debug level: :reads, ActiveRecord's line for each read and one for each burst; :bursts, one
    # for each burst and a last one for all; :summary, the last one alone.
    #
    #: () -> Symbol
    def log = LogSubscriber.mode

    # @raise [ArgumentError]
    #
    #: (Symbol) -> void
    def log=(mode)
      LogSubscriber.mode = mode
      Patches.install_log_lines unless mode == :reads
    end

    # ActiveRecord works in the main Ractor alone. In others a schema that is GraphQL::Schema::RactorShareable has no Pipeloader.
    def main_ractor? = !defined?(::Ractor) || ::Ractor.current.equal?(::Ractor.main) # :nodoc:

    #: () -> bool
    def disabled? = Switch.off?
  end
end

require "pipeloader/version"
require "pipeloader/base"

Pipeloader::Switch.start(ENV.fetch("PIPELOADER", nil))

# The engine, which knows of no GraphQL. In the order in which a read passes through.
require "pipeloader/wire"
%w[provenance common_steps bytecode block_code known_methods].each { |it| require "pipeloader/code/#{it}" }
require "pipeloader/fibers"
require "pipeloader/reading"
require "pipeloader/report/log_subscriber"
require "pipeloader/views"
require "pipeloader/patches"

Pipeloader::Patches.install
Pipeloader::LogSubscriber.attach_to(:pipeloader)

require "pipeloader/railtie" if defined?(Rails::Railtie)
