# frozen_string_literal: true

require_relative "../reading/read_forms_case"
require_relative "../support/coalesced_from_two"

# What query transformers put around reads says who asks.
class CoalescedTagsTest < PipeloaderTest
  extend WithoutPreparedStatements
  include SiblingFields
  include CoalescedFromTwo

  def connection = ActiveRecord::Base.lease_connection

  def teardown = super.tap { ActiveRecord.query_transformers.clear }

  def with_tags(&tags) = ActiveRecord.query_transformers << ->(sql, _connection = nil) { tags.call(sql) }

  def statements_of(ids, &block)
    schema = schemas_of(ids.size).last
    2.times { answers_of(schema, ids, &block) }
    sent_to(connection.raw_connection) { answers_of(schema, ids, &block) }
  end

  # @return [Array<String>] SQL as it goes to the server
  def sent_to(raw)
    sent = []
    raw.define_singleton_method(:send_query_params) { |sql, *rest| super(sql, *rest).tap { sent << sql } }
    yield
    sent
  ensure
    raw.singleton_class.remove_method(:send_query_params)
  end

  def test_belongs_to_polymorphic_and_sql_of_ones_own
    with_tags { |sql| "#{sql} /*application:Blog,current_graphql_field:title*/" }
    ids = Post.where.not(author_id: nil).order(:id).limit(5).ids
    assert_equal [5, 5], assert_alike(ids) { |id| Post.find(id).author.name }.last
    attachments = Attachment.where.not(attachable_id: nil).group_by(&:attachable_type).values.max_by(&:size).uniq(&:attachable_id)
    assert_operator attachments.size, :>, 2
    assert_equal [attachments.size] * 2, assert_alike(attachments.map(&:id)) { |id| Attachment.find(id).attachable.id }.last
    _, sizes = assert_alike([1, 2, 3, 4]) { |id| connection.select_rows("SELECT id FROM posts WHERE author_id = #{id} ORDER BY id") }
    assert_equal [4], sizes
  end

  # It is behind the statement for many, too, with the tags of the first.
  def test_tags_are_sent
    with_tags { |sql| "/*before*/ #{sql} /*after*/" }
    sent = statements_of([1, 2, 3]) { |id| Post.find_by_sql("SELECT * FROM posts WHERE id = #{id}").first.title }
    assert_equal 1, sent.size
    assert_match(%r{\A/\*before\*/ SELECT pipeloader_rows.*\s/\*after\*/\z}m, sent.first)
    assert_equal 1, sent.first.scan("after").size
  end

  # No text is sent twice; what is known of the statement holds for all.
  def test_tags_of_each_request
    count = 0
    with_tags { |sql| "#{sql} /*request_id:#{count}*/" }
    schema = schemas_of(4).last
    sizes = Array.new(3) do
      count += 1
      sent_to(connection.raw_connection) { answers_of(schema, [1, 2, 3, 4]) { |id| connection.select_rows("SELECT id, 'request' FROM posts WHERE author_id = #{id}") } }.size
    end
    assert_equal [4, 1, 1], sizes
  end

  # Tags of other fields aren't lost.
  def test_other_tags_are_other_statements
    with_tags { |sql| "#{sql} /*field:#{ActiveSupport::ExecutionContext.to_h[:field]}*/" }
    sent = statements_of([1, 2, 3, 4]) do |id|
      ActiveSupport::ExecutionContext.set(field: id > 2) { connection.select_rows("SELECT id FROM posts WHERE author_id = #{id}") }
    end
    assert_equal %w[false true], sent.map { |sql| sql[/field:(\w+)/, 1] }.sort
  end

  # Whatever is no comment, or none for sure.
  def test_what_is_no_tag
    {
      "a comment in a comment" => ->(sql) { "#{sql} /* /* */ AND nextval('tags_seq') > 0 --*/" }, "SQL" => ->(sql) { "#{sql} AND nextval('tags_seq') > 0" },
      "the line's end" => ->(sql) { "#{sql} --\r AND nextval('tags_seq') > 0" }, "a hint" => ->(sql) { "#{sql} /*+ x */ AND nextval('tags_seq') > 0" },
      "a place before" => ->(sql) { sql.sub("FROM", ", nextval('tags_seq') FROM") }
    }.each do |name, transform|
      connection.execute("CREATE SEQUENCE tags_seq")
      with_tags(&transform)
      sent = statements_of([1, 1, 1]) { |id| connection.select_rows("SELECT id FROM posts WHERE id = #{id}") }
      assert_equal 3, sent.size, name
    ensure
      ActiveRecord.query_transformers.clear
      connection.execute("DROP SEQUENCE tags_seq")
    end
  end
end
