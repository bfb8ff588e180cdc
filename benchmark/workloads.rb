# frozen_string_literal: true

require_relative "workload"
require_relative "dataset"

# In the order of the reports.
%w[trees].each { |name| require_relative "workloads/#{name}" }
