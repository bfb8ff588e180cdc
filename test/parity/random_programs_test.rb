# frozen_string_literal: true

require "pp"
require_relative "random_case"
require_relative "../support/read_forms"

# Random resolvers: with and without Pipeloader they answer the same, and leave the same behind.
class RandomProgramsTest < RandomCase
  Current = RandomCase::Current

  # A resolver's program: [[:read, "count", 2], [:scoping, 3, [[:read, …], …]], …]
  class Programmer
    # Without those that move rows, as not every form has an order, and what shows whether the query cache knew.
    FORMS = ReadForms::ALL.reject { |name, (expectation, _)| expectation == :own_transaction || name.match?(/update|UPDATE|writes|explain|find_or_create/) }.keys.freeze
    # Leave the other reads of a transaction an error.
    FAILING = FORMS.grep(/several statements|no such|error|syntax|division|bad |too few|encoding|NUL|savepoint/).freeze
    BLOCKS = %i[scoping unscoped cache uncached locale zone current connected_to transaction without_parking rescuing tagged].freeze

    def initialize(random, failing: true, fibers: true)
      @random = random
      @forms = failing ? FORMS : FORMS - FAILING
      @failing = failing
      @fibers = fibers
    end

    # @return [Hash] {steps: the program, lazy: whether a lazy value runs it, below: programs of the fields below}
    def call(depth)
      { steps: steps(3), lazy: @random.rand < 0.15, below: depth.zero? ? [] : Array.new(@random.rand(0..3)) { call(depth - 1) } }
    end

    private

    def steps(depth) = Array.new(@random.rand(1..3)) { step(depth) }

    def step(depth)
      case @random.rand
      when 0..0.45 then [:read, @forms.sample(random: @random), @random.rand(1..3)]
      when 0.45..0.7 then depth.zero? ? [:look] : [BLOCKS.sample(random: @random), @random.rand(1..5), steps(depth - 1)]
      when 0.7..0.76 then [:shared_association, %i[author comments tags last_comment].sample(random: @random)]
      when 0.76..0.8 then [:shared_relation]
      when 0.8..0.84 then @fibers ? [:enumerator] : [:look]
      when 0.87..0.9 then @failing ? [:fail_with, %w[execution missing].sample(random: @random)] : [:look]
      when 0.9..0.93 then @fibers ? [:fiber] : [:look]
      else [:look]
      end
    end
  end

  # Runs programs in a resolver.
  class Processor
    def initialize(context) = @context = context

    # @return [Array] what each step has seen
    def call(steps) = steps.map { |name, *arguments| seen(public_send(name, *arguments)) }

    # What nested calls return has been seen already: Strings.
    def seen(value)
      case value
      when Array then value.map { |it| seen(it) }
      when String then value
      else Comparison.of(value).inspect.then { |text| text.size > 600 ? "#{text[0, 500]}… #{text.hash}" : text }
      end
    end

    def read(form, id)
      ReadForms::ALL.fetch(form).last.call(id)
    rescue ActiveRecord::ActiveRecordError, ArgumentError, NameError, PG::Error, EncodingError, RangeError => e
      e
    end

    # What is in force here.
    def look = [::Post.count, surroundings, ::Post.all.to_sql, ::Tag.order(:id).first.name, surroundings]

    def surroundings
      [I18n.locale, Time.zone&.name, Current.who, ActiveRecord::Base.current_role, ::Post.current_scope&.to_sql,
       ::Post.connection.query_cache_enabled, ::Post.connection.open_transactions - @context[:open_transactions], ActiveRecord::Base.current_preventing_writes]
    end

    def scoping(number, steps) = ::Post.where(id: number..).scoping { [call(steps), look] }
    def unscoped(_number, steps) = ::Post.unscoped { [call(steps), look] }
    def cache(_number, steps) = ::Post.cache { [call(steps), look] }
    def uncached(_number, steps) = ::Post.uncached { [call(steps), look] }
    def locale(number, steps) = I18n.with_locale(number.odd? ? :en : :de) { [call(steps), look] }
    def zone(number, steps) = Time.use_zone(%w[Tokyo Lima UTC][number % 3]) { [call(steps), look] }
    def current(number, steps) = Current.set(who: number) { [call(steps), look] }
    def tagged(number, steps) = ActiveSupport::ExecutionContext.set(tag: number) { [call(steps), look, ActiveSupport::ExecutionContext.to_h.slice(:tag)] }
    def connected_to(number, steps) = ActiveRecord::Base.connected_to(role: :writing, prevent_writes: number.odd?) { [call(steps), look] }
    def without_parking(_number, steps) = Pipeloader.without_parking { [call(steps), look] }

    def rescuing(_number, steps)
      call(steps)
    rescue StandardError => e
      [e.class, look]
    end

    # An error in it would end it for what comes after.
    def transaction(number, steps)
      steps = steps.reject { |name, form| name == :read && Programmer::FAILING.include?(form) }
      seen = nil
      ::Tag.transaction(requires_new: true) do
        ::Tag.create!(id: 9000 + number, name: "new") unless ActiveRecord::Base.current_preventing_writes
        seen = [call(steps.select { |name, *| %i[read look].include?(name) }.reject { |name, form| name == :read && Programmer::FAILING.include?(form) }), ::Tag.count]
        raise ActiveRecord::Rollback
      end
      [seen, look]
    end

    def shared_association(name) = @context[:post].public_send(name).then { |it| it.respond_to?(:map) ? it.map(&:id) : it }
    def shared_relation = [@context[:relation].size, @context[:relation].map(&:title), @context[:relation].empty?]
    def enumerator = Enumerator.new { |them| ::Post.order(:id).limit(3).each { |post| them << [post.title, post.comments.count] } }.then { |it| [it.next, it.next] }
    def fiber = Fiber.new { [::Post.first.title, surroundings.first] }.resume

    def fail_with(kind)
      kind == "missing" ? ::Post.find(4711) : raise(GraphQL::ExecutionError, "#{kind} of #{::Post.count}")
    end
  end

  Later = Struct.new(:work) { def value = work.call }

  class Step < GraphQL::Schema::Object
    field :value, GraphQL::Types::JSON
    field :must, GraphQL::Types::JSON, null: false
    field :below, ["RandomProgramsTest::Step"], null: false

    def value = object[:lazy] ? Later.new(-> { run }) : run
    def must = value
    def run = Processor.new(context).call(object[:steps])
    def below = ::Tag.exists? && object[:below]
  end

  class Query < GraphQL::Schema::Object
    field :programs, [Step], null: false
    def programs = context[:programs]
  end

  PROGRAMS = "{ programs { ...s below { ...s below { ...s } } } } fragment s on Step { value again: value @include(if: $again) must @include(if: $must) }"
             .then { |text| "query($again: Boolean!, $must: Boolean!) #{text}" }

  def program_schemas = @@program_schemas ||= Schemas.make(query: Query, mutation: nil) { lazy_resolve(Later, :value) }

  def test_programs
    each_round { |random| assert_same_programs(random) { |run| run.call } }
  end

  def test_programs_with_the_query_cache
    each_round { |random| assert_same_programs(random) { |run| ActiveRecord::Base.cache { run.call } } }
  end

  def test_programs_in_a_transaction
    each_round { |random| assert_same_programs(random, failing: false) { |run| rolled_back { run.call } } }
  end

  def test_programs_under_fiber_isolation
    isolate_by(:fiber)
    # Each other fiber would take a connection of its own.
    each_round { |random| assert_same_programs(random, fibers: false) { |run| run.call } }
  end

  def test_programs_in_other_blocks
    each_round do |random|
      assert_same_programs(random) do |run|
        I18n.with_locale(:de) { Time.use_zone("Lima") { Current.set(who: "outside") { ::Post.where(id: ..11).scoping(&run) } } }
      end
    end
  end

  private

  # A transaction sends what is gathered, before its siblings have come to ask the same; and whoever reads asynchronously, when
  # a thread has time for it: there may be a round trip more for each of them.
  APART = /transaction|async/

  def assert_same_programs(random, **options, &around)
    I18n.available_locales |= %i[en de]
    programmer = Programmer.new(random, **options)
    programs = Array.new(random.rand(1..5)) { programmer.call(2) }
    variables = { "again" => random.rand < 0.3, "must" => random.rand < 0.3 && !Engine::NEXT } # see Engine::AVOIDED
    runs = ->(some) { program_schemas.map { |schema| -> { around.call(-> { run_programs(schema, some, variables) }) } } }
    failure = lambda do |some|
      failure_of { assert_same(*runs.call(some), show: { programs: some, variables: variables }, trips: some.to_s.scan(APART).size) }
    end
    return unless (first = failure.call(programs))

    # Shown is what is left when nothing more can be left out; unless it takes more than once to fail.
    raise failure.call(shrink(programs) { |some| failure.call(some) }) || first
  end

  def failure_of
    yield
    nil
  rescue Minitest::Assertion => e
    e
  end

  def run_programs(schema, programs, variables)
    context = { programs: programs, post: ::Post.find(1), relation: ::Post.order(:id), open_transactions: ::Post.connection.open_transactions }
    schema.execute(PROGRAMS, context: context, variables: variables).to_h
  end

  # Leaves out programs and steps as long as the block says yes.
  def shrink(programs)
    while (smaller = smaller_ones(programs).find { |some| yield some })
      programs = smaller
    end
    programs
  end

  # @return [Array] +thing+ with one piece less, each piece once; [:locale, 1, [steps]] becomes less by its steps
  def smaller_ones(thing)
    case thing
    when Hash
      %i[steps below].flat_map { |key| smaller_ones(thing[key]).map { |less| { **thing, key => less } } }
    when Array
      step = thing.first.is_a?(Symbol)
      without = step ? [] : thing.each_index.map { |index| thing[0...index] + thing[index + 1..] }
      without + thing.each_with_index.flat_map do |piece, index|
        smaller_ones(piece).map { |less| thing[0...index] + [less] + thing[index + 1..] }
      end
    else []
    end
  end
end
