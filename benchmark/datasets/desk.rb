# frozen_string_literal: true

module Bench
  module Datasets
    # Tickets of a support desk, of which each object is shown to those whom a policy admits.
    class Desk < Dataset
      def models_module = ::Desk

      # Who asks: an agent.
      def context = { viewer: @viewer ||= ::Desk::User.find(1) }

      # 1,000 tickets with five comments each.
      def seed(connection)
        connection.execute(<<~SQL)
          CREATE TABLE users (id bigserial PRIMARY KEY, name text NOT NULL, account_id bigint NOT NULL, agent boolean NOT NULL);
          CREATE TABLE tickets (
            id bigserial PRIMARY KEY, subject text NOT NULL, body text NOT NULL, account_id bigint NOT NULL, internal boolean NOT NULL,
            author_id bigint NOT NULL REFERENCES users, assignee_id bigint REFERENCES users);
          CREATE TABLE comments (
            id bigserial PRIMARY KEY, ticket_id bigint NOT NULL REFERENCES tickets, author_id bigint NOT NULL REFERENCES users,
            body text NOT NULL, internal boolean NOT NULL);
          INSERT INTO users (name, account_id, agent) SELECT 'User ' || n, 1, n % 10 = 1 FROM generate_series(1, 200) n;
          INSERT INTO tickets (subject, body, account_id, internal, author_id, assignee_id)
          SELECT 'Ticket ' || n, repeat('amber basalt cedar ', 20), 1, n % 7 = 0, 1 + n * 31 % 200, CASE WHEN n % 4 > 0 THEN 1 + n * 57 % 200 END
          FROM generate_series(1, 1000) n;
          INSERT INTO comments (ticket_id, author_id, body, internal)
          SELECT 1 + n % 1000, 1 + n * 13 % 200, 'Comment ' || n, n % 5 = 0 FROM generate_series(1, 5000) n;
          CREATE INDEX ON comments (ticket_id);
          ANALYZE users, tickets, comments;
        SQL
      end
    end
  end
end
