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
  # Of the record that a block is called with. None reads what another one writes.
  ASKS = [
    ->(post) { post.author&.name }, ->(post) { post.comments.map(&:body) }, ->(post) { post.comments.map { |it| it.commenter&.name } },
    ->(post) { post.comments.count }, ->(post) { post.comments.order(:id).last&.body }, ->(post) { post.reload.title },
    ->(post) { post.author&.posts&.map(&:title) }, ->(post) { User.find_by(id: post.author_id)&.name },
    ->(post) { Post.where(id: post.id).update_all("likes = likes + 1") }, ->(post) { post.author = User.find(1) }, ->(post) { post.id.even? && post.author&.name }
  ].freeze
  LOCK = Mutex.new

  def initialize(random)
    @seed = random.seed
    @maps = 0
    @tree = body(random, 0)
  end

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

  # @param record [Post, nil] that some steps of the +body+ ask. No two blocks have one in common
  def about(record, body, id = record.id)
    @record = record
    steps(body, id)
  end

  private

  def body(random, depth) = Array.new(random.rand(1..4)) { step(random, depth) }

  def step(random, depth)
    kinds = %i[read read read write fail assign set transaction lock rescue raw]
    kinds += %i[ask ask ask] if depth.positive?
    kinds += %i[map map records records records gather] if depth < 3
    case kind = kinds.sample(random: random)
    when :read, :fail then [kind, random.rand(READS.size), random.rand(12)]
    when :write, :assign, :raw then [kind, random.rand(3)]
    when :ask then [kind, random.rand(ASKS.size)]
    when :records then [kind, random.rand(0..5), body(random, depth + 1), @maps += 1]
    when :map, :gather then [kind, random.rand(0..5), body(random, depth + 1), random.rand(4)]
    when :lock then [kind, random.rand(READS.size)] # which is taken again inside of it by nobody
    else [kind, body(random, depth + 1)]
    end
  end

  def steps(body, id) = body.map { |kind, *rest| send(kind, id, *rest) }

  def ask(_, number) = @record && ASKS[number].call(@record).then { |it| it.is_a?(ActiveRecord::Base) ? it.id : it }
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

  def map(id, count, body, _) = Pipeloader.map((1..count).to_a) { |i| dup.about(nil, body, (id * 7) + i) }

  # A place of its own in the code for each, of which is learned what its blocks ask.
  def records(id, count, body, number)
    posts = Post.where(id: (id % 5)..((id % 5) + count)).order(:id).to_a
    Pipeloader.map(posts, &eval("->(post) { dup.about(post, body) }", binding, "program #{@seed}", number))
  end

  def gather(id, count, body, heard)
    Pipeloader.gather do |gathering|
      tasks = Array.new(count) { |i| gathering.async { dup.about(nil, body, (id * 5) + i) } }
      [read(id, heard, 0), tasks.first(heard).map(&:value)]
    end
  end
end
