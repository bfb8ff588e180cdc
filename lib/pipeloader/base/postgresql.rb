# frozen_string_literal: true

module Pipeloader
  # Tells PostgreSQL's adapters from others.
  module PostgreSQL
    # True for ActiveRecord's own adapter and for those derived from it (PostGIS'): they have the methods of our patches. Their
    # reads are pipelined.
    #
    #: (Class) -> bool
    def self.adapter?(adapter_class) = adapter_class.method_defined?(:pipeloader_session)
  end
end
