# frozen_string_literal: true

# A random program of Pipeloader.map and Pipeloader.gather: a tree of steps, made from a seed, so that it does the same each time. Of
# models and Pipeloader alone: it is run without graphql-ruby, too.
class GatheringProgram
  class Viewer < ActiveSupport::CurrentAttributes
    attribute :who
  end

  class Failed < StandardError; end

  # What a program returns, raises, writes and leaves assigned.
  #
  # @param disabled [Boolean] whether without Pipeloader
  def self.outcome(seed, disabled)
    program = new(Random.new(seed))
    Viewer.reset
    Post.where(id: 1..5).update_all(likes: 0)
    result = disabled ? Pipeloader.disabled { program.run } : program.run
    [result, Post.order(:id).limit(5).pluck(:likes)]
  ensure
    Viewer.reset
  end

  READS = [
    ->(id) { Post.find_by(id: id)&.title }, ->(id) { Comment.where(post_id: id).count }, ->(id) { User.where(id: id).pick(:name) },
    ->(id) { Post.where(id: id).first&.author&.name }, ->(id) { Post.find_by(id: id)&.comments&.map(&:body) }, ->(id) { User.find(id).name },
    ->(_) { Post.order(:id).limit(2).ids }, ->(id) { Post.where(author_id: id).exists? }
  ].freeze
  LOCK = Mutex.new

  def initialize(random) = @tree = body(random, 0)

  # @return [Array] what it returns or raises, and the log of what it did in order
  def run
    @log = []
    result = begin
      steps(@tree, 1)
    rescue Failed, ActiveRecord::RecordNotFound => e
      [e.class, e.message]
    end
    [result, @log, Viewer.who] # a block's assignments end with it, in either case
  end

  private

  def body(random, depth) = Array.new(random.rand(1..4)) { step(random, depth) }

  def step(random, depth)
    kinds = %i[read read read write fail assign set transaction lock rescue raw]
    kinds += %i[map map gather] if depth < 3
    case kind = kinds.sample(random: random)
    when :read, :fail then [kind, random.rand(READS.size), random.rand(12)]
    when :write, :assign, :raw then [kind, random.rand(3)]
    when :map, :gather then [kind, random.rand(0..5), body(random, depth + 1), random.rand(4)]
    when :lock then [kind, random.rand(READS.size)] # which is taken again inside of it by nobody
    else [kind, body(random, depth + 1)]
    end
  end

  def steps(body, id) = body.map { |kind, *rest| send(kind, id, *rest) }

  def read(id, number, _) = READS[number].call((id % 12) + 1)
  def assign(id, number) = Viewer.who = "#{number}/#{id}"
  def set(id, body) = Viewer.set(who: "set #{id}") { [steps(body, id), Viewer.who] }
  def lock(id, number) = LOCK.synchronize { read(id, number, 0) }
  def transaction(id, body) = Post.transaction(requires_new: true) { steps(body, id) }
  def raw(id, number) = Post.connection.select_value("SELECT #{number} + #{id}")
  def fail(id, _, number) = id % 12 == number && raise(Failed, "#{id} fails")

  def write(id, number)
    Post.where(id: (id % 5) + 1).update_all("likes = likes + #{number}")
    @log << [:write, id, number]
  end

  def rescue(id, body)
    steps(body, id)
  rescue Failed, ActiveRecord::RecordNotFound => e
    e.class.name
  end

  def map(id, count, body, _) = Pipeloader.map((1..count).to_a) { |i| steps(body, (id * 7) + i) }

  def gather(id, count, body, heard)
    Pipeloader.gather do |gathering|
      tasks = Array.new(count) { |i| gathering.async { steps(body, (id * 5) + i) } }
      [read(id, heard, 0), tasks.first(heard).map(&:value)]
    end
  end
end
