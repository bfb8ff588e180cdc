# frozen_string_literal: true

require_relative "pgbouncer_case"
require_relative "../support/differing_fields"

# A proof through PgBouncer in transaction mode: its snapshot stays with one server.
class ProofPgbouncerTest < PgbouncerCase
  include DifferingFields

  # Between all reads somebody writes, and whoever lets go of a server gets another one.
  def test_one_snapshot
    before = side.exec("SELECT likes FROM posts WHERE id = 1").getvalue(0, 0)
    seen = []
    resolve(true, 2) do |index|
      on_another_server { side.exec("UPDATE posts SET likes = #{seen.size + 100} WHERE id = 1") } if index.zero?
      seen << GatedPost.find(1).likes
    end
    assert_equal [[true], 10], [@differences.map(&:snapshot), seen.size]
    assert_equal [2, 1], [seen.first(4).uniq.size, seen.last(6).uniq.size]
    assert_equal "read committed", value("SHOW transaction_isolation")
  ensure
    side.exec("UPDATE posts SET likes = #{before} WHERE id = 1")
  end
end
