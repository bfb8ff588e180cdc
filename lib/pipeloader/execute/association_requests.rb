# frozen_string_literal: true

module Pipeloader
  # An object that waits for what one of its associations brings.
  class AssociationRequest
    include Flight::Planned

    # The key by which the records are found, as it was when graphql-ruby came to the field.
    attr_reader :key

    # @return [Array<ActiveRecord::Base>, nil] those that were read for it, if any
    attr_accessor :records

    # @return [ActiveRecord::Base, Array<ActiveRecord::Base>, nil] what has been loaded
    attr_reader :target

    alias inspect to_s

    # @param member [ObjectList::Member] whose job asks for the field as its child number +index+
    # @param group [AssociationRequests, Preload] of one association
    def initialize(group, member, index, key)
      @group = group
      @member = member
      @index = index
      @key = key
      @job = @left = @target = @records = @run = nil
    end

    def record = @member.record
    def name = @group.link.name
    def result = @member.result

    # In which graphql-ruby comes to the field. Made when somebody asks: most don't need it.
    def job = @job ||= @member.job.child(@index, self)

    # The job's work, where a plan can't do it.
    def call
      load
      @group.resolve(self)
    ensure
      withdraw
    end

    # It is done by its job, or nothing is to be done.
    def leave = @left = true

    # True if it is still to be said who does it.
    def waits? = !@left

    def next_indexes(_count) = 1

    # @return [Boolean] whether they are its records now
    def load
      link = @group.link
      return false if @records.nil? || link.leaves?(self)

      withdraw
      association = record.association(link.name)
      association.pipeloader_load(@records, @group.dynamic?(association))
      @target = link.many? ? association.target.dup : association.target # a later field may add to it
      true
    end
  end

  # Those of one association: read for all of them at once, when graphql-ruby has come to all that it can come to.
  class AssociationRequests
    class << self
      # @param all [Array<AssociationRequests>] of associations that plans follow, or just one
      # @param least [Integer] of how many records on a Preload pays: fewer are read as they are, pipelined
      def read(all, fiber, least = Coalesced::WORTH)
        groups = all.reject(&:empty?).flat_map { |owners| owners.by_state.to_a }.group_by(&:first)
        until groups.empty?
          fiber.within(groups.first.first) { read_together(groups.shift.last.map(&:last), fiber, least) }
        end
      ensure # whatever it was: others wait for these fields
        groups&.each_value { |some| some.each { |_, owners| owners.give_up } }
      end

      private

      # Reads for all of them, which see the same.
      def read_together(all, fiber, least)
        all.first.link.is_a?(Preload) ? all.first.preload(fiber, least) : grow(all, fiber)
      rescue Foreseen
        nil
      ensure
        all.each(&:give_up)
      end

      def grow(all, fiber)
        roots = Executor.new(fiber, all.first.context).below(all.map(&:wanted))
        all.zip(roots) { |owners, root| owners.write(root) unless root.error }
      end
    end

    attr_reader :link, :nodes

    alias inspect to_s

    # @param nodes [GraphQL::Language::Nodes::Field, Array<GraphQL::Language::Nodes::Field>] where the association is selected
    #
    #: (ObjectLists, (Link | Preload), untyped, ?Array[AssociationRequest]) -> void
    def initialize(object_lists, link, nodes, owners = [])
      @object_lists = object_lists
      @link = link
      @nodes = nodes
      @owners = owners
      @all = owners.dup
      @dynamic = nil
    end

    def add(owner)
      @owners << owner
      @all << owner
    end

    # @return [Array<Job>] that may never be begun
    def reserved = @all.select(&:waits?).map(&:job)

    # @param job [Job, nil] the one that is running
    # @return [AssociationRequests] those that a serial run would have read before: they are taken out
    def before(job)
      earlier, @owners = @owners.partition { |owner| job.nil? || owner.job.compare(job).negative? }
      AssociationRequests.new(@object_lists, @link, @nodes, earlier)
    end

    # @param least [Integer] as AssociationRequests.read
    def read(fiber, least) = AssociationRequests.read([self], fiber, least)

    def empty? = @owners.empty?

    # Leaves to graphql-ruby those that nobody has read for.
    def give_up = @object_lists.give_up(@owners.select(&:waits?))

    # By what they see: one of them may have assigned what the next one's scopes ask for.
    #
    # @return [Hash{Snapshot => AssociationRequests}]
    def by_state
      run = @object_lists.loader.pipeloader_run
      return { run.base.known => self } unless run.assigned?

      @owners.group_by { |owner| run.start_of(owner.job) }
             .transform_values { |owners| AssociationRequests.new(@object_lists, @link, @nodes, owners) }
    end

    def preload(fiber, least)
      owners = @owners.reject { |owner| @link.leaves?(owner) }
      return if owners.size < least

      @link.call(fiber, owners)
      @object_lists.bring_up(self, @owners)
      @owners = []
    end

    # @return [Array(Link, Array)] and the keys of its owners
    def wanted = [@link, @owners.map(&:key)]

    # @param root [Frame] with a row for each owner
    def write(root)
      @link.check(context)
      @owners.zip(root.rows) { |owner, row| put(owner, row, root) }
    rescue DoesNotFit
      nil # graphql-ruby is to do them all
    end

    def context = @object_lists.runtime.context

    # True if the records are found by a relation, for each owner.
    def dynamic?(association)
      @dynamic = association.pipeloader_dynamic? if @dynamic.nil?
      @dynamic
    end

    # Has graphql-ruby do an owner's field.
    def resolve(owner) = @object_lists.runtime.evaluate_selection(@link.key, @nodes, owner.result)

    private

    def put(owner, row, root)
      @object_lists.write(owner, @link.key, @link.build(row, root, context))
    rescue DoesNotFit
      nil # graphql-ruby is to do it
    end
  end
end
