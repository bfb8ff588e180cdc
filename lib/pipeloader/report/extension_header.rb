# frozen_string_literal: true

module Pipeloader
  # A Rack middleware: a request with `X-Pipeloader: 1` is told in its response's `extensions.pipeloader` what that has taken, by
  # schemas whose option `extensions` says so. Rails has it in development, and where `config.pipeloader.extensions` is true.
  #
  #     use Pipeloader::ExtensionHeader # in config.ru
  #
  # Limits: what the application executes on another fiber or thread than the request's doesn't know of the header.
  class ExtensionHeader
    NAME = "HTTP_X_PIPELOADER"
    private_constant :NAME

    #: (untyped) -> void
    def initialize(app)
      @app = app
      ResponseExtension::LISTENING.subscribe
    end

    # As Rack calls it.
    #
    #: (Hash[String, untyped]) -> untyped
    def call(env) = env[NAME] == "1" ? ResponseExtension.asked { @app.call(env) } : @app.call(env)
  end
end
