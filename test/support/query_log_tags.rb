# frozen_string_literal: true

# For tests with ActiveRecord::QueryLogs: they say which #log_tags.
module QueryLogTags
  def setup
    super
    @tags_before = ActiveRecord::QueryLogs.tags
    ActiveRecord::QueryLogs.tags = log_tags
    ActiveRecord.query_transformers << ActiveRecord::QueryLogs
  end

  def teardown
    super
    ActiveRecord.query_transformers.delete(ActiveRecord::QueryLogs)
    ActiveRecord::QueryLogs.tags = @tags_before
  end
end
