# frozen_string_literal: true

# Settings of Pipeloader for all schemas. What a schema itself says (`use Pipeloader, trips: :one`) wins. The lines that are
# commented out show the defaults.

Rails.application.configure do
  # Who is executed with Pipeloader: true, false, a part of all executions (0.05), or a callable that is asked as each begins:
  # ->(context) { Flipper.enabled?(:pipeloader, context[:current_user]) }. PIPELOADER=off in the environment turns it off.
  # config.pipeloader.enabled = true

  # What the log has at debug level: :summary, one line per response; :bursts, also one per round trip, which is the default in
  # development; :reads, ActiveRecord's line for each read.
  # config.pipeloader.log = :reads

  # Operations in which Pipeloader has a bug are executed without it from then on.
  # config.pipeloader.breaker = true

  # A part of all queries is executed without Pipeloader, too, and compared:
  # { sample: 0.001, on_difference: ->(difference) { Rails.error.report(RuntimeError.new(difference.to_s)) } }.
  # config.pipeloader.proof = nil

  # What Rails renders of a collection, partials and JSON, reads together, in all controllers: docs/gather.md.
  # config.pipeloader.collections = false

  # Reads of one SQL text become one statement.
  # config.pipeloader.coalesce = true

  # Fields that are proved plain go from rows straight to the response.
  # config.pipeloader.compile = true

  # A response says in `extensions.pipeloader` what it has taken, where a request has the header `X-Pipeloader: 1`; nil is true in
  # development.
  # config.pipeloader.extensions = nil

  # Only the columns that a query selects are read.
  # config.pipeloader.field_exact = false

  # How many fields may wait at once; nil is the dataloader's own limit, or 4096.
  # config.pipeloader.fiber_limit = nil

  # What resolvers asked for in earlier executions of a document is read ahead.
  # config.pipeloader.forecast = true

  # Over how many connections of the pool slow reads may go; 1 is off.
  # config.pipeloader.lanes = 1

  # How many bytes of documents are kept, so that they need no plan again; estimated.
  # config.pipeloader.plan_bytes = 33_554_432

  # Operations that are faster without Pipeloader are executed without it.
  # config.pipeloader.rest = true

  # Which revision of the application runs, for what Pipeloader::Web tells of deploys; nil is what the host says (GIT_SHA,
  # KAMAL_VERSION and others in the environment, the file REVISION), false is none.
  # config.pipeloader.revision = nil

  # PostgreSQL's settings for each query, for row-level security: ->(context) { { "app.tenant_id" => context[:tenant].id } }.
  # config.pipeloader.settings = nil

  # All that a query reads is of one moment.
  # config.pipeloader.snapshot = false

  # By how many round trips a plan's rows come: :depth, level by level; :one; :auto, whichever takes less time.
  # config.pipeloader.trips = :auto
end
