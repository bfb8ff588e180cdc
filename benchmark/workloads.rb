# frozen_string_literal: true

require_relative "workload"
require_relative "dataset"

# In the order of the reports.
%w[trees harbors feed desk app aggregates pages nesting mixed opaque small chinook cold alike].each do |name|
  require_relative "workloads/#{name}"
end
