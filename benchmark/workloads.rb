# frozen_string_literal: true

require_relative "workload"
require_relative "dataset"

# In the order of the reports.
%w[trees harbors aggregates pages nesting mixed opaque small chinook cold alike].each { |name|
  require_relative "workloads/#{name}"
}
