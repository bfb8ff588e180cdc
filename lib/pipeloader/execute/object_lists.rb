# frozen_string_literal: true

module Pipeloader
  # How one execution of the Interpreter goes through the objects that stand for records: those that are side by side together
  # as an ObjectList, and their associations read for all that ask.
  class ObjectLists
    NO_ARGUMENTS = GraphQL::Execution::Interpreter::Arguments::EMPTY
    NONE = [].freeze
    private_constant :NO_ARGUMENTS, :NONE

    attr_reader :loader, :runtime, :places

    alias inspect to_s

    #: (GraphQL::Execution::Interpreter::Runtime, Loader, Plans) -> void
    def initialize(runtime, loader, plans)
      @runtime = runtime
      @loader = loader
      @places = ObjectPlaces.new(runtime, plans)
      @courses = {}.compare_by_identity # {selections of the document => {PartialPlan => ObjectCourse}}
      @owners = {}.compare_by_identity # {Link | Preload => AssociationRequests}, those that are being gathered
      @gathering = {}.compare_by_identity # {Run => [AssociationRequests]}, those of them that one fiber reads
    end

    # Goes on with an object that graphql-ruby has made.
    #
    # @param fields [Hash] as ObjectList's
    # @return [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] +result+, in which graphql 2.5 looks for lazy values
    def go_on(partial, result, fields)
      course = course(partial, result, fields)
      last = @loader.pipeloader_last
      objects = last.is_a?(ObjectList) && last.takes?(course) ? last : ObjectList.new(self, partial, course)
      member = objects.add(result, fields, current_job)
      read_ahead(objects, result.graphql_selections, result.ast_node) { [member.record] }
      objects.enqueue unless @loader.pipeloader_last.equal?(objects) # it may be done by now
      result
    end

    # @param result [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] of an object
    # @return [ObjectCourse] for all objects of that place
    def course(partial, result, fields)
      selections = result.graphql_selections
      keys = result.ordered_result_keys
      return ObjectCourse.new(partial, fields, keys, @places.watched?) unless selections.equal?(result.ast_node&.selections)

      courses = @courses[selections] ||= {}.compare_by_identity
      courses[partial] ||= ObjectCourse.new(partial, fields, keys, @places.watched?)
    end

    # Makes the object of a record, and goes on with it.
    #
    # @param parent [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] of which it's the +key+
    def bring(maker, parent, key, record) = go_on(maker.place.partial, maker.result(record, parent, key), maker.fields)

    # Makes a list, and fills it when its turn has come.
    #
    # @param parent [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] of which it's the +key+
    # @return [GraphQL::Execution::Interpreter::Runtime::GraphQLResultArray]
    def fill(place, parent, key, records)
      list = place.list_in(parent, key)
      return list if records.empty?

      job = current_job
      first = job.next_indexes(records.size)
      records = records.dup # a later field may add to an association's own
      queue(job, first) do
        make_all(place) { |maker| records.each_with_index { |it, at| maker.make(it, list, at, job, first + at) } }
      end
      list
    end

    # Has an association read for a member of an ObjectList, along with all others that ask for it.
    #
    # @param index [Integer] of the job in which graphql-ruby would come to it, among those of the member's own
    # @param nodes [GraphQL::Language::Nodes::Field, Array<GraphQL::Language::Nodes::Field>]
    # @return [Boolean] false where it isn't to be read
    def ask(partial, link, member, index, nodes)
      return false unless partial.linked?(link, member.record)

      link = link.bound(@runtime.context) if link.is_a?(Link)
      key = partial.key(link, member.record)
      owners = @owners[link] ||= gather(link, nodes)
      owners.add(owner = AssociationRequest.new(owners, member, index, key))
      run = @loader.pipeloader_run
      owner.announce(run) if link.is_a?(Preload) && member.steps.any?
      run.turns.add(owner.job) if run.turns.failing?
      true
    rescue DoesNotFit
      false
    end

    # Makes the objects of the records that were read for +owners+, and goes on with these.
    #
    # @param owners [Array<AssociationRequest>] of the +group+
    def bring_up(group, owners)
      first = owners.first.job
      queue(first.parent, first.index) { settle(group, owners) }
    end

    # To graphql-ruby.
    def give_up(owners)
      owners.each do |owner|
        owner.leave
        @loader.append_job(owner.job)
      end
    end

    # Writes what there is for an owner.
    def write(owner, key, tree)
      @runtime.set_result(owner.result, key, tree, false, false)
      drop(owner)
    end

    private

    # A fiber that is at no job gets one that stands for it.
    def current_job = ResolverFiber.current.job || @loader.pipeloader_job(nil)

    def queue(parent, index, &work) = @loader.append_job(@loader.pipeloader_job_at(work, parent, index))

    def drop(owner)
      owner.leave
      owner.job.drop if @loader.pipeloader_run.turns.failing? # else nobody has asked for it
    end

    # They are read behind all jobs that are queued by then, which may bring other owners, and before any parked fiber goes on, so
    # that it is one burst.
    def gather(link, nodes)
      owners = AssociationRequests.new(self, link, nodes)
      run = @loader.pipeloader_run
      run.defer(owners)
      run.reserve(owners)
      group = link.is_a?(Preload) ? [] : @gathering[run] ||= []
      group << owners
      @loader.append_job { @loader.append_job { read(group, run) if owners.equal?(group.last) } }
      owners
    end

    # One fiber reads what plans ask for, the one that comes to the last of it: a document may ask for any number of associations.
    def read(group, run)
      @gathering.delete(run) if @gathering[run].equal?(group)
      group.each do |owners|
        @owners.delete(owners.link)
        run.take_up(owners)
      end
      AssociationRequests.read(group, ResolverFiber.current)
    end

    # @yieldparam [ObjectMaker]
    def make_all(place)
      objects = ObjectList.new(self, place.partial)
      yield place.maker(objects)
      read_ahead(objects, place.selections, place.node) { objects.records }
      objects.enqueue
    end

    # What is read ahead shares its level with what plans ask for: these have asked by then, or nothing is.
    #
    # @yieldreturn [Array] records that have come
    def read_ahead(objects, selections, node)
      return unless @loader.pipeloader_forecasts?

      @runtime.pipeloader_read_ahead(objects.asks_later? ? NONE : yield, selections, node)
    end

    def settle(group, owners)
      place = place_of_owners(group, owners.first) or return give_up(owners)
      mine, others = owners.partition { |owner| loaded?(place, group.link, owner) }
      give_up(others)
      group.link.many? ? fill_all(place, group.link.key, mine) : put(place, group.link.key, mine)
      mine.each { |owner| drop(owner) }
    end

    def place_of_owners(group, owner)
      nodes = group.nodes.is_a?(Array) ? group.nodes : [group.nodes]
      node, link = nodes.first, group.link
      field = @runtime.query.types.field(owner.result.graphql_result_type, node.name)
      type = link.many? ? TypeWrappers.nullable(field.type).of_type : field.type
      @places.at(field, type, node, nodes.one? ? node.selections : nodes.flat_map(&:selections), NO_ARGUMENTS, link.model)
    end

    # True if graphql-ruby would find these records there: somebody may have changed something since.
    def loaded?(place, link, owner)
      return false unless owner.load

      target = owner.target
      return false unless link.many? ? place.takes?(target) : takes_one?(place, target)

      @runtime.pipeloader_expect(target, place.type, place.selections, place.node)
      true
    end

    def takes_one?(place, target) = target ? place.partial.takes?(target) : !place.non_null

    def fill_all(place, key, owners)
      lists = owners.map { |owner| place.list_in(owner.result, key) }
      first = owners.find { |owner| owner.target.any? } or return
      queue(first.job, 1) do
        make_all(place) do |maker|
          owners.zip(lists) do |owner, list|
            owner.target.each_with_index { |record, at| maker.make(record, list, at, owner, at + 1) }
          end
        end
      end
    end

    def put(place, key, owners)
      make_all(place) do |maker|
        owners.each do |owner|
          result = owner.result
          next result.graphql_dead || result.set_leaf(key, nil) unless owner.target

          maker.make(owner.target, result, key, owner)
        end
      end
    end
  end
end
