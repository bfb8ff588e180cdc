# frozen_string_literal: true

require_relative "contender"

# In the order of the reports: by hand, by libraries, ours, floors.
%w[naive includes eager_load dataloader graphql_batch batch_loader goldiloader ar_lazy_preload pipeloader
   pipeloader_exact pipeloader_depth pipeloader_lanes pipeloader_unforecast pipeloader_uncompiled pipeloader_uncoalesced
   next_naive next_includes next_dataloader next_pipeloader next_pipeloader_depth next_pipeloader_unforecast rest rest_expand
   join_unprepared join_fast join_prepared floor_rows floor_json].each do |name|
  require_relative "contenders/#{name}"
end
