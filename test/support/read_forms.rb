# frozen_string_literal: true

# Every way to read with ActiveRecord, as procs of an id from 1 to 3, and what becomes of their reads in a resolver.
module ReadForms
  # {"name of the form" => [:parks | :at_once | :own_transaction | :both | :nothing, Proc(id)]}
  ALL = {}

  class << self
    # Each of its reads is parked.
    def parks(name, &body) = ALL[name] = [:parks, body]

    # None of its reads is.
    def at_once(name, &body) = ALL[name] = [:at_once, body]

    # None, but where the response is in a transaction already.
    def own_transaction(name, &body) = ALL[name] = [:own_transaction, body]

    # Some are, or it depends.
    def both(name, &body) = ALL[name] = [:both, body]

    # There are none.
    def reads_nothing(name, &body) = ALL[name] = [:nothing, body]

    def connection = Post.lease_connection
    def integer(value) = ActiveRecord::Relation::QueryAttribute.new("n", value, ActiveModel::Type::Integer.new)
  end

  # One record.
  parks("find") { |id| Post.find(id) }
  parks("find with several ids") { |id| Post.find(id, id + 3) }
  parks("find with an array") { |id| Post.find([id + 3, id]) }
  parks("find a composite key") { |id| LineItem.find([1, [id, 2].min]) }
  parks("find missing") { |id| Post.find(id + 1000) }
  parks("find some missing") { |id| Post.find(id, 1000) }
  parks("find on a relation") { |id| Post.where(likes: 0..).find(id) }
  parks("find with a string") { |id| Post.find("#{id}-slug") }
  parks("find_by key") { |id| Post.find_by(id: id) }
  parks("find_by attribute") { |id| Post.find_by(title: "post #{id}") }
  parks("find_by several") { |id| Post.find_by(title: "post #{id}", author_id: [nil, *1..8]) }
  parks("find_by nil") { |id| Post.find_by(author_id: nil, id: 4 * id) }
  parks("find_by SQL") { |id| Post.find_by("id = ?", id) }
  parks("find_by SQL without binds") { |id| Post.find_by("id = #{id}") }
  parks("find_by! missing") { |id| Post.find_by!(title: "no post #{id}") }
  parks("find_by association") { |id| Post.find_by(author: User.new { |user| user.id = id }) }
  parks("find_or_initialize_by") { |id| Post.find_or_initialize_by(title: "neither #{id}") }
  parks("find_or_create_by an existing one") { |id| Post.find_or_create_by(title: "post #{id}") }
  parks("take") { |id| Post.where(id: id).take }
  parks("take several") { |id| Post.where(id: [id, id + 1]).order(:id).take(2) }
  parks("take!") { |id| Post.where(id: id + 1000).take! }
  parks("first") { |id| Post.where(id: id..).first }
  parks("first several") { |id| Post.first(id) }
  parks("first!") { |id| Post.where(id: id + 1000).first! }
  parks("last") { |id| Post.where(id: ..id).last }
  parks("last several") { |id| Post.order(:title).last(id) }
  parks("second, third, third_to_last") { |id| [Post.where(id: id..).second, Post.third, Post.order(:id).third_to_last] }
  parks("sole") { |id| Post.where(id: id).sole }
  parks("sole of several") { |id| Post.where(id: id..).sole }
  parks("find_sole_by") { |id| Post.find_sole_by(id: id + 1000) }
  parks("reload") { |id| Post.find(id).reload }
  parks("reload a missing one") { |id| Post.new { |post| post.id = id + 1000 }.reload }
  parks("STI") { |id| [Vehicle.find(id), Car.where(id: id..).order(:id).to_a, Bike.where(id: id).exists?] }
  parks("STI not found in a subclass") { |id| [Car, Bike].map { |type| type.find_by(id: id) } }

  # Several records.
  parks("load_async without an executor") { |id| Post.where(id: id..).order(:id).load_async.to_a }
  parks("to_a") { |id| Post.where(id: id..).order(:id).to_a }
  parks("load") { |id| Post.where(id: id..).order(:id).load }
  parks("records, each, map") { |id| Post.where(id: id..).order(:id).map(&:title) }
  parks("all") { |_id| Tag.order(:id).to_a }
  parks("where of all kinds") { |id| Post.where(likes: 0...9, author_id: [1, nil, id]).where.not(title: "post 9").where("likes + ? > 0", id).order(:id).to_a }
  parks("or, and, invert_where") { |id| Post.where(id: id).or(Post.where(id: id + 4)).and(Post.where(likes: 0..)).order(:id).to_a + Post.where(id: id..).invert_where.order(:id).to_a }
  parks("IN of a subquery") { |id| Post.where(author_id: User.where(id: id).select(:id)).order(:id).to_a }
  parks("FROM a subquery") { |id| Post.from(Post.where(id: id..), :posts).order(:id).to_a }
  parks("WITH") { |id| Post.with(liked: Post.where(id: id..)).from("liked AS posts").order(:id).to_a }
  parks("joins") { |id| Post.joins(:comments).where(comments: { score: id.. }).distinct.order(:id).to_a }
  parks("left_joins") { |id| Post.left_joins(:author).where(users: { id: [nil, id] }).order(:id).to_a }
  parks("group and having") { |id| Comment.group(:post_id).having("COUNT(*) > ?", id).order(:post_id).count }
  parks("select") { |id| Post.select(:id, "likes * #{id} AS more").order(:id).map { |post| [post.more, post.attributes] } }
  parks("select with a block") { |id| Post.order(:id).select { |post| post.id > id } }
  parks("distinct on") { |id| Comment.select("DISTINCT ON (post_id) comments.*").where(score: id..).order(:post_id, :id).to_a }
  parks("limit and offset") { |id| Post.order(id: :desc).limit(id).offset(id).to_a }
  parks("in_order_of") { |id| Post.in_order_of(:id, [id + 1, id, 7]).to_a }
  parks("readonly, strict_loading") { |id| [Post.readonly.find(id), Post.strict_loading.find(id)] }
  parks("extending") { |id| Post.extending(Module.new { def titles = map(&:title) }).where(id: id..).order(:id).titles }
  parks("annotate, optimizer_hints") { |id| Post.annotate("note").optimizer_hints("SeqScan(posts)").find_by(id: id) }
  parks("named scope") { |id| Post.popular.where(id: id..).order(:id).to_a }
  parks("unscoped, rewhere, merge") { |id| Post.where(id: 1).rewhere(id: id).merge(Post.where(likes: 0..)).to_a + Post.unscoped.where(id: id).to_a }
  parks("scoping") { |id| Post.where(id: id..).scoping { [Post.count, Post.order(:id).first, Post.unscoped { Post.count }] } }
  parks("lock") { |id| Post.lock.find(id) }
  parks("lock FOR SHARE") { |id| Post.where(id: id).lock("FOR SHARE").to_a }
  parks("lock!") { |id| Post.find(id).lock! }
  parks("find_each") { |id| Post.where(id: id..).find_each(batch_size: 5).map(&:id) }
  parks("find_in_batches") { |id| Post.where(id: id..).find_in_batches(batch_size: 5).map { |batch| batch.map(&:id) } }
  parks("in_batches") { |id| Post.where(id: id..).in_batches(of: 5).map { |batch| batch.order(:id).pluck(:id) } }
  parks("in_batches loaded") { |id| Post.where(id: id..).in_batches(of: 5, load: true).map(&:to_a) }
  parks("size, length, to_ary") { |id| Post.where(id: id..).then { |posts| [posts.size, posts.length, posts.to_ary.size] } }
  parks("index_by, group_by, sort_by") { |id| Post.where(id: id..).order(:id).then { |posts| [posts.index_by(&:id), posts.group_by(&:likes)] } }
  parks("as_json") { |id| Post.where(id: id..).order(:id).as_json }
  parks("inspect") { |id| Post.where(id: id).inspect }
  parks("== of a relation") { |id| Post.where(id: id).order(:id) == Post.where(id: [id]).order(:id).to_a }

  # Values.
  parks("pluck") { |id| Post.where(id: id..).order(:id).pluck(:title) }
  parks("pluck several") { |id| Post.where(id: id..).order(:id).pluck(:id, Arel.sql("likes * 1.5"), :author_id) }
  parks("pluck over a join") { |id| Post.joins(:author).where(id: id..).order(:id).pluck("posts.title", "users.name") }
  parks("pick") { |id| Post.where(id: id).pick(:title, :likes) }
  parks("ids") { |id| Post.where(id: id..).order(:id).ids }
  parks("ids of composite keys") { |_id| LineItem.order(:order_id, :number).ids }
  parks("count") { |id| Post.where(id: id..).count }
  parks("count of everything") { |_id| Post.count }
  parks("count of a column") { |id| [Post.where(id: id..).count(:author_id), Post.distinct.count(:author_id), Post.count("DISTINCT likes")] }
  parks("count with limit") { |id| Post.limit(id).count }
  parks("grouped counts") { |id| [Comment.where(id: id..).group(:post_id).count, Comment.group(:post_id, :commenter_id).count, Post.group(:author).order(:author_id).count].map { |it| it.sort_by { |key, _| key.inspect } } }
  parks("sum") { |id| [Post.where(id: id..).sum(:likes), Post.sum("likes * 0.5"), Post.where(id: 0).sum(:likes)] }
  parks("grouped sums") { |id| Comment.where(id: id..).group(:post_id).order(:post_id).sum(:score) }
  parks("minimum, maximum, average") { |id| Post.where(id: id..).then { |posts| [posts.minimum(:likes), posts.maximum(:title), posts.average(:likes)] } }
  parks("aggregates of nothing") { |id| Post.where(id: id + 1000).then { |posts| [posts.minimum(:likes), posts.average(:likes), posts.sum(:likes), posts.count] } }
  parks("calculate") { |id| Post.where(id: id..).calculate(:sum, :likes) }
  parks("exists?") { |id| [Post.exists?, Post.exists?(id), Post.exists?(id + 1000), Post.exists?(title: "post #{id}"), Post.where(id: id).exists?, Post.exists?(["id = ?", id])] }
  parks("any?, none?, one?, many?") { |id| Post.where(id: id..).then { |posts| [posts.any?, posts.none?, posts.one?, posts.many?] } }
  parks("any? with a block") { |id| Post.where(id: id..).any? { |post| post.likes > 8 } }
  parks("empty?, present?, blank?") { |id| [Post.where(id: id).empty?, Post.where(id: id).present?, Post.where(id: id + 1000).blank?] }
  parks("include?") { |id| Post.where(id: id..).include?(Post.find(id)) }

  # SQL.
  parks("find_by_sql") { |id| Post.find_by_sql(["SELECT * FROM posts WHERE id >= ? ORDER BY id", id]) }
  parks("find_by_sql with binds") { |id| Post.find_by_sql("SELECT id, title FROM posts WHERE id = $1", [ReadForms.integer(id)]) }
  parks("find_by_sql prepared") { |id| Post.find_by_sql("SELECT id FROM posts WHERE id = $1", [ReadForms.integer(id)], preparable: true) }
  parks("count_by_sql") { |id| Post.count_by_sql("SELECT COUNT(*) FROM posts WHERE id > #{id}") }
  parks("select_all") { |id| ReadForms.connection.select_all("SELECT id, title, likes / 2.0 AS half, NULL AS nothing FROM posts WHERE id = $1", "Mine", [ReadForms.integer(id)]) }
  parks("select_all of a relation") { |id| ReadForms.connection.select_all(Post.where(id: id..).order(:id)) }
  parks("select_all of Arel") { |id| ReadForms.connection.select_all(Post.arel_table.project(Arel.star).where(Post.arel_table[:id].eq(id))) }
  parks("select_all without rows or columns") { |id| [ReadForms.connection.select_all("SELECT id FROM posts WHERE id > #{id + 1000}"), ReadForms.connection.select_all("SELECT")] }
  parks("select_one, value, values, rows") do |id|
    %i[select_one select_value select_values select_rows].map { |name| ReadForms.connection.public_send(name, "SELECT id, title FROM posts WHERE id >= #{id} ORDER BY id") }
  end
  parks("UNION, VALUES, TABLE, parentheses") do |id|
    ["SELECT #{id} UNION SELECT 2 ORDER BY 1", "VALUES (#{id}, 'a'), (2, NULL)", "TABLE tags", "(SELECT #{id})", "  \n select #{id}"].map { |sql| ReadForms.connection.select_rows(sql) }
  end
  parks("WITH RECURSIVE") { |id| ReadForms.connection.select_rows("WITH RECURSIVE n(i) AS (SELECT #{id} UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n") }
  parks("a comment in front") { |id| ReadForms.connection.select_value("/* who */ SELECT #{id}") }
  parks("duplicate column names") { |id| ReadForms.connection.select_all("SELECT #{id} AS a, 2 AS a") }
  parks("a function") { |id| ReadForms.connection.select_value("SELECT length(pg_sleep(0)::text) + #{id}") }
  parks("words of writes in strings") { |id| ReadForms.connection.select_value("SELECT 'insert into ' || #{id}") }
  parks("find_by with odd strings") { |id| ["%", "'; DROP TABLE posts", "\u00e9\u{1f642}", "", "x" * 10_000].map { |text| Post.find_by(title: "#{text}#{id}") } }

  # Associations.
  parks("belongs_to") { |id| Post.find(id).author }
  reads_nothing("belongs_to without a key") { |_id| Post.new.author }
  parks("belongs_to that doesn't exist") { |id| Comment.new(post_id: id + 1000).post }
  parks("reload_author, reset") { |id| Post.find(id).then { |post| [post.reload_author, post.association(:author).reset, post.author] } }
  parks("has_one") { |id| User.find(id).profile }
  parks("has_one with order") { |id| Post.find(id).last_comment }
  parks("has_many") { |id| Post.find(id).comments.to_a }
  parks("has_many with a scope") { |id| Post.find(id).top_comments.map(&:score) }
  parks("has_many through") { |id| Post.find(id).tags.to_a }
  parks("has_many through distinct") { |id| User.find(id).commented_posts.to_a + Post.find(id).commenters.to_a }
  parks("polymorphic") { |id| Attachment.find(id).attachable }
  parks("has_many as") { |id| User.find(id).attachments.to_a + Post.find(id).attachments.to_a }
  parks("self-referential") { |id| Employee.find(id).then { |one| [one.manager, one.reports.to_a, one.reports.flat_map { |report| report.reports.to_a }] } }
  parks("composite keys") { |id| LineItem.order(:order_id, :number).limit(id).map { |item| item.notes.to_a } }
  parks("size, empty?, any?, count of an association") { |id| Post.find(id).comments.then { |it| [it.size, it.empty?, it.any?, it.count, it.many?, it.none?] } }
  parks("length of an association") { |id| Post.find(id).comments.then { |it| [it.length, it.size, it.empty?, it.count] } }
  parks("ids of an association") { |id| Post.find(id).then { |post| [post.comment_ids, post.tag_ids] } }
  parks("relations of an association") { |id| Post.find(id).comments.then { |it| [it.where(score: 5..).to_a, it.find_by(score: 3), it.pluck(:id), it.sum(:score), it.exists?(score: 9), it.reorder(:score, :id).first] } }
  parks("find, first, last, include? of an association") { |id| Post.find(3).comments.then { |it| [it.first, it.last, it.second, it.include?(Comment.find(id)), it.exists?(id)] } }
  parks("find missing of an association") { |id| Post.find(1).comments.find(id + 1000) }
  parks("reload of an association") { |id| Post.find(id).comments.then { |it| [it.load.size, it.reload.size, it.reset.size] } }
  parks("build beside the loaded") { |id| Post.find(id).comments.then { |it| it.build(body: "new") && [it.to_a.map(&:body), it.size] } }
  parks("preload") { |id| Post.where(id: id..).preload(:author, :placed_tags, comments: :commenter).order(:id).to_a.map { |post| [post, post.comments.to_a] } }
  parks("includes") { |id| Post.includes(comments: { commenter: :profile }).find(id).comments.map { |comment| comment.commenter&.profile } }
  parks("includes with references") { |id| Post.includes(:comments).where(comments: { score: id.. }).order(:id).to_a }
  parks("eager_load") { |id| Post.eager_load(:author, :tags).where(id: id..).order(:id).to_a }
  parks("eager_load with limit") { |id| Post.eager_load(:comments).order(:id).limit(id).to_a }
  parks("Preloader") { |id| Post.where(id: id..).order(:id).to_a.tap { |posts| ActiveRecord::Associations::Preloader.new(records: posts, associations: [:author, { comments: :commenter }]).call } }
  parks("preload polymorphic") { |id| Attachment.where(id: id..).preload(:attachable).order(:id).map(&:attachable) }
  parks("strict_loading violated") { |id| Post.strict_loading.find(id).comments.to_a }
  parks("association scope") { |id| Post.find(id).association(:comments).scope.where(score: 1..).to_a }
  parks("other database") { |id| Audit.where(post_id: id).pluck(:note) }

  # ActiveRecord knows the answer itself.
  reads_nothing("none") { |_id| [Post.none.to_a, Post.none.count, Post.none.exists?, Post.none.sum(:likes), Post.none.pluck(:id)] }
  parks("where nothing") { |_id| [Post.where(id: []).to_a, Post.limit(0).to_a] }
  both("out of range") { |_id| [Post.where(id: 2**70).to_a, Post.find_by(id: 2**70), Post.exists?(id: 2**70), Post.where(id: 2**70).count] }
  both("find out of range") { |_id| Post.find(2**70) }
  reads_nothing("unsaved owners") { |_id| [Post.new.comments.to_a, User.new.profile, Post.new.tags.to_a] }

  # Errors.
  parks("no such column") { |id| Post.where("no_such_column = ?", id).to_a }
  parks("no such table") { |id| ReadForms.connection.select_value("SELECT #{id} FROM no_such_table") }
  parks("syntax error") { |id| ReadForms.connection.select_value("SELECT #{id} FROM FROM") }
  parks("division by zero") { |id| ReadForms.connection.select_value("SELECT #{id} / 0") }
  parks("division by zero, prepared") { |id| Post.where("#{id} / (likes - likes) = ?", id).where(id: id).to_a }
  parks("error in the middle of the rows") { |id| ReadForms.connection.select_values("SELECT #{id} / (12 - id) FROM posts ORDER BY id") }
  parks("bad cast") { |id| ReadForms.connection.select_value("SELECT 'x#{id}'::integer") }
  parks("bad bind") { |id| ReadForms.connection.select_value("SELECT $1::integer", nil, [ActiveRecord::Relation::QueryAttribute.new("n", "x#{id}", ActiveModel::Type::String.new)]) }
  at_once("too few binds") { |id| ReadForms.connection.select_value("SELECT $1::integer + $2::integer", nil, [ReadForms.integer(id)]) }
  parks("error of a filter") { |id| ReadForms.connection.select_value("SELECT pg_sleep(0) FROM posts WHERE 1 / (id - #{id}) > 0") }
  both("NUL in a string") { |id| Post.find_by(title: "a\0#{id}") }
  both("invalid encoding") { |id| Post.find_by(title: "\xff#{id}") }
  parks("incompatible encoding") { |id| Post.find_by(title: "\u00e9#{id}".encode("UTF-16LE")) }
  parks("error of a block") { |id| Post.order(:id).each { |post| raise ArgumentError, "at #{post.id}" if post.id > id } }
  reads_nothing("error before the read") { |_id| Post.where(no_such: { nested: 1 }).order(:nonsense, no_such: :up) }
  both("attribute that wasn't selected") { |id| Post.select(:id).find(id).title }

  # At once.
  at_once("execute") { |id| ReadForms.connection.execute("SELECT #{id}").values }
  at_once("exec_query") { |id| ReadForms.connection.exec_query("SELECT id, title FROM posts WHERE id = $1", "Mine", [ReadForms.integer(id)]) }
  at_once("query_value") { |id| ReadForms.connection.query_value("SELECT #{id}") }
  at_once("async_count") { |id| Post.where(id: id..).async_count.value }
  at_once("async_pluck, async_sum, async_find_by_sql") { |id| [Post.where(id: id).async_pluck(:title).value, Post.async_sum(:likes).value, Post.async_find_by_sql("SELECT * FROM posts WHERE id = #{id}").value] }
  at_once("SHOW") { |_id| ReadForms.connection.select_value("SHOW server_version_num") }
  at_once("several statements") { |id| ReadForms.connection.select_value("SELECT #{id}; SELECT 2") }
  at_once("WITH that writes") { |id| ReadForms.connection.select_value("WITH x AS (UPDATE posts SET likes = likes WHERE id = #{id} RETURNING likes) SELECT * FROM x") }
  at_once("update_all") { |id| Post.where(id: id).update_all("likes = likes") }
  at_once("UPDATE … RETURNING") { |id| ReadForms.connection.select_value("UPDATE posts SET likes = likes WHERE id = #{id} RETURNING id") }
  own_transaction("a transaction of its own") { |id| Post.transaction { [Post.find(id), Post.find(id).comments.to_a, Post.count] } }
  at_once("a savepoint") { |id| Post.transaction { Post.transaction(requires_new: true) { Post.where(id: id).pick(:title) } } }
  reads_nothing("schema") { |_id| [ReadForms.connection.tables.sort, ReadForms.connection.columns("posts").map(&:name), ReadForms.connection.primary_key("posts"), ReadForms.connection.table_exists?("posts")] }
  both("explain") { |id| Post.where(id: id).explain.inspect.lines.first }
  both("with_lock") { |id| Post.find(id).with_lock { Post.find(id).title } }
  both("update and read again") { |id| Post.find(id).then { |post| post.update_columns(likes: post.likes) && Post.find(id) } }
  both("transaction between reads") { |id| [Post.find(id).title, Post.transaction { Post.find(id + 1).title }, Post.find(id + 2).title] }
  both("insert and rollback") do |id|
    before = Tag.count
    inside = Tag.transaction(requires_new: true) { Tag.create!(name: "rolled back #{id}") && Tag.count.tap { raise ActiveRecord::Rollback } }
    [before, inside, Tag.count]
  end

  # What surrounds the reads of a field.
  parks("in other blocks") do |id|
    [Post.uncached { Post.find(id).title }, Post.cache { [Post.find(id).title, Post.find(id).title] }, Post.unscoped { Post.count },
     Post.where(id: id).scoping { Post.all.to_a }, I18n.with_locale(:de) { [Post.count, I18n.locale] },
     Time.use_zone("Tokyo") { [Post.count, Time.zone.name] }]
  end
  parks("without_parking") { |id| Pipeloader.without_parking { [Post.find(id), Post.count] } }
  parks("unprepared_statement") { |id| ReadForms.connection.unprepared_statement { Post.where(id: id).to_a } }
  parks("connected_to") { |id| ActiveRecord::Base.connected_to(role: :writing, prevent_writes: true) { Post.find(id) } }
  reads_nothing("a write where it's prevented") { |id| ActiveRecord::Base.while_preventing_writes { Post.where(id: id).update_all(likes: 1) } }
  parks("ensure and rescue") do |id|
    Post.find(id + 1000)
  rescue ActiveRecord::RecordNotFound => e
    [e, Post.find(id)]
  end
end
