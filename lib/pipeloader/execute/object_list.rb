# frozen_string_literal: true

module Pipeloader
  # Objects of one type and model that stand next to one another in graphql-ruby's queue. What is plain of them is written when
  # they come; then what isn't is resolved, object by object, each field as if it had a job of its own: when one parks, another
  # fiber goes on with the rest.
  class ObjectList
    include Job::Several

    # One of the objects.
    class Member
      attr_reader :result, :record, :base, :steps

      # @param holder [#job] of the job that graphql-ruby would come to it in; or, if it is one of a list's, of the job that would
      #   have asked for that one, as its child number +index+
      # @param base [Integer] the place of its first field among what its job asks for
      # @param steps [Array<#call>] what is to be done when it has come
      def initialize(result, record, holder, index, base, steps)
        @result = result
        @record = record
        @holder = holder
        @index = index
        @base = base
        @steps = steps
        @job = nil
      end

      alias inspect to_s

      # Does something before all else.
      def begin_with(steps) = @steps = [*steps, *@steps]

      def job = @job ||= @index ? @holder.job.child(@index) : @holder.job
    end
    attr_reader :runtime

    alias inspect to_s

    # @param object_lists [ObjectLists]
    # @param course [ObjectCourse, nil] of its objects; nil: as the first one says
    def initialize(object_lists, partial, course = nil)
      @object_lists = object_lists
      @loader = object_lists.loader
      @runtime = object_lists.runtime
      @partial = partial
      @course = course
      @members = []
      @member = @step = 0
    end

    # What its objects stand for.
    def records = @members.map(&:record)

    # See ObjectCourse.
    def asks_later? = @course&.asks_later?

    # True if objects that go that way may be added.
    def takes?(course) = @course.equal?(course)

    # @param result [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] empty as yet
    # @param fields [Hash{String => GraphQL::Language::Nodes::Field, Array}] what is selected of each, as graphql-ruby has
    #   gathered it
    # @param holder [#job] as Member's
    # @return [Member]
    def add(result, fields, holder, index = nil)
      @runtime.pipeloader_makes(result)
      @course ||= @object_lists.course(@partial, result, fields)
      record = result.graphql_application_value.object
      todo = @course.steps(@partial.write(record, @course.leaves, result.graphql_result_data, @runtime.context))
      base = index ? 1 : holder.next_indexes(fields.size)
      member = Member.new(result, record, holder, index, base, todo.steps)
      unasked = todo.asked.reject { |link| ask(member, link) } # it may wait for who loads that: others come to the list meanwhile
      member.begin_with(unasked.map { |link| @course.opaque(link.key) }) if unasked.any?
      @members << member
      member
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
        return true if @step < member.steps.size

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
      @runtime.evaluate_selection(key, @course.fields[key], member.result) unless plain
      plain
    end

    private

    # With one of the objects, as far as no other fiber does.
    def go_on(fiber)
      member = @members[@member]
      while member.equal?(@members[@member]) && (step = member.steps[@step])
        @step += 1
        perform(fiber, member, step)
      end
    end

    def take = @members[@member].steps[(@step += 1) - 1]

    def queued(member, step)
      @loader.pipeloader_job_at(-> { step.call(self, member) }, member.job, member.base + step.index)
    end

    def perform(fiber, member, step)
      fiber.begin_step(self, member, step)
      quiet = step.call(self, member)
    rescue StandardError, ScriptError => e
      # As in a Job.
      fiber.await_turn_of(e)
      raise
    ensure
      fiber.end_step(quiet)
    end

    def ask(member, link)
      @object_lists.ask(@partial, link, member, member.base + @course.position(link.key), @course.fields[link.key])
    end
  end
end
