# frozen_string_literal: true

module Bench
  # Plain resolvers; an association is loaded for all records that came with the first.
  class ArLazyPreload < Contender
    called "ar_lazy_preload", "plain resolvers with the gem ar_lazy_preload, auto_preload on"

    private

    # In a Rails application its Railtie installs the hooks.
    def require_gems
      super
      require "ar_lazy_preload"
      ::ArLazyPreload.install_hooks
      ::ArLazyPreload.config.auto_preload = true
    end
  end
end
