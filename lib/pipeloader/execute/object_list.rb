# frozen_string_literal: true

module Pipeloader
  # Objects of one type and model that stand next to one another in graphql-ruby's queue. What is plain of them is written when
  # they come; then what isn't is resolved, object by object, each field as if it had a job of its own: when one parks, another
  # fiber goes on with the rest.
  class ObjectList
    include Job::Several

    # The work on an object when it comes, and after that.
    #
    # asked: [Link | Preload, …] that no resolver comes before. steps: [Call | Evaluation | Follow, …]; each says whether no code
    # of the application's has run
    Course = Struct.new(:asked, :steps)

    # A method that is all that graphql-ruby would call.
    Call = Struct.new(:resolver_call, :nodes, :index) do
      def call(objects, member)
        resolver_call.call(objects.runtime, member.result, nodes)
        false
      end
    end

    # A field that graphql-ruby does.
    Evaluation = Struct.new(:key, :nodes, :index) do
      def call(objects, member)
        objects.runtime.evaluate_selection(key, nodes, member.result)
        false
      end
    end

    # Plain fields behind one that isn't: its resolver may have changed the record.
    Follow = Struct.new(:keys, :index) do
      def call(objects, member)
        quiet = true
        keys.each { |key| quiet = false unless objects.follow(member, key) }
        quiet
      end
    end

    # One of the objects.
    class Member
      attr_reader :result, :record, :base, :course

      # @param holder [#job] of the job that graphql-ruby would come to it in; or, if it is one of a list's, of the job that would
      #   have asked for that one, as its child number +index+
      # @param base [Integer] the place of its first field among what its job asks for
      def initialize(result, record, holder, index, base, course)
        @result = result
        @record = record
        @holder = holder
        @index = index
        @base = base
        @course = course
        @job = nil
      end

      alias inspect to_s

      def job = @job ||= @index ? @holder.job.child(@index) : @holder.job
    end
    private_constant :Course, :Evaluation, :Call, :Follow

    attr_reader :runtime

    alias inspect to_s

    # @param object_lists [ObjectLists]
    def initialize(object_lists, partial)
      @object_lists = object_lists
      @loader = object_lists.loader
      @runtime = object_lists.runtime
      @partial = partial
      @members = []
      @member = @step = 0
    end

    # @param result [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] empty as yet
    # @param fields [Hash{String => GraphQL::Language::Nodes::Field, Array}] what is selected of each, as graphql-ruby has
    #   gathered it
    # @param holder [#job] as Member's
    def add(result, fields, holder, index = nil)
      @runtime.pipeloader_makes(result)
      @fields ||= fields
      @leaves ||= @partial.leaves(result.ordered_result_keys)
      record = result.graphql_application_value.object
      course = course(@partial.write(record, @leaves, result.graphql_result_data, @runtime.context))
      base = index ? 1 : holder.next_indexes(fields.size)
      @members << member = Member.new(result, record, holder, index, base, course)
      course.asked.each { |link| ask(member, link) || @loader.append_job(queued(member, opaque(link.key, @fields[link.key]))) }
    end

    # Queues what is left: as jobs once a field has failed, or where the queue isn't Dataloader's own.
    def enqueue
      return @loader.append_job(self) if @loader.pipeloader_takes_object_lists?

      jobs.each { |job| @loader.append_job(job) }
    end

    # Does it.
    def call
      return unless left?

      fiber = ResolverFiber.of(@loader)
      @loader.pipeloader_leave(self) # it may find nothing left
      fiber.go_through { go_on(fiber) while left? }
    end

    # True if there is a step that nobody has begun.
    def left?
      while (member = @members[@member])
        return true if @step < member.course.steps.size

        @member += 1
        @step = 0
      end
      false
    end

    # @return [Array<Job>] what is left, which it leaves to them
    def jobs
      jobs = []
      jobs << queued(@members[@member], take) while left?
      jobs
    end

    # @return [Job] what stands for a step that has been begun
    def job(member, step) = member.job.child(member.base + step.index, step)

    # A field that is plain, behind one that isn't, whose resolver may have extended the record.
    #
    # @return [Boolean] whether it still is
    def follow(member, key)
      link = @partial.link(key)
      plain = @partial.takes?(member.record) &&
              (link ? ask(member, link) : @partial.write_again(key, member.record, member.result, @runtime.context))
      @runtime.evaluate_selection(key, @fields[key], member.result) unless plain
      plain
    end

    private

    # With one of the objects, as far as no other fiber does.
    def go_on(fiber)
      member = @members[@member]
      steps = member.course.steps
      while member.equal?(@members[@member]) && (step = steps[@step])
        @step += 1
        perform(fiber, member, step)
      end
    end

    def take = @members[@member].course.steps[(@step += 1) - 1]

    def queued(member, step)
      @loader.pipeloader_job_at(-> { step.call(self, member) }, member.job, member.base + step.index)
    end

    def perform(fiber, member, step)
      fiber.begin_step(self, member, step)
      quiet = step.call(self, member)
    rescue StandardError => e
      # As in a Job.
      fiber.await_turn_of(e)
      raise
    ensure
      fiber.end_step(quiet)
    end

    def ask(member, link) = @object_lists.ask(@partial, link, member, member.base + @positions[link.key], @fields[link.key])

    # @param left [Array<String>] the plain leaves that it couldn't be told; most objects have none
    def course(left) = left.empty? ? @course ||= make_course(left) : make_course(left)

    def make_course(left)
      @positions ||= @fields.each_key.with_index.to_h
      asked, steps = [], []
      plain = @fields.to_h { |key, _| [key, @partial.plain?(key)] }
      left.each { |key| plain[key] = false }
      follows = !@partial.record? && plain.value?(false) # things in one list may know one another
      @fields.each do |key, nodes|
        next steps << opaque(key, nodes) unless plain[key]
        next asked.concat([@partial.link(key)].compact) if steps.empty? && !follows

        steps << Follow.new([], @positions[key]) unless joins?(key, steps.last)
        steps.last.keys << key
      end
      Course.new(asked, steps)
    end

    # True if it goes with what is followed before it: what is asked for has a step of its own, since it waits.
    def joins?(key, step) = step.is_a?(Follow) && [key, step.keys.first].none? { |it| @partial.link(it) }

    def opaque(key, nodes)
      call = @partial.resolver_call(key)
      call ? Call.new(call, nodes, @positions[key]) : Evaluation.new(key, nodes, @positions[key])
    end
  end
end
