# frozen_string_literal: true

require "uri"

module Pipeloader
  # Who may see the page: everybody in Rails' development and test, and elsewhere nobody, unless the application says otherwise.
  class Gate
    CLOSED = <<~TEXT
      Pipeloader's page is closed here. Open it in an initializer, either for those whom you let in:

          Pipeloader::Web.authorize { |env| env["warden"]&.user&.admin? }

      or, where its route stands behind a constraint or a login of your own, for all who come that far:

          Pipeloader::Web.authorize = :host

      In Rails' development and test environments it is open.
    TEXT

    # @return [Symbol, #call, nil] :host, who is asked, or nil
    attr_reader :authorize

    # @raise [ArgumentError]
    def authorize=(value)
      unless value.nil? || value == :host || value.respond_to?(:call)
        raise ArgumentError, "authorize must be :host, a callable or nil, got #{value.inspect}"
      end

      @authorize = value
    end

    # @return [Boolean, nil] whether plans are asked for; nil for the default
    attr_reader :explain

    # @raise [ArgumentError]
    def explain=(value)
      raise ArgumentError, "explain must be true, false or nil, got #{value.inspect}" unless [true, false, nil].include?(value)

      @explain = value
    end

    # True if those who may see the page may have the server plan what was recorded: by default where applications are developed.
    def explains? = @explain.nil? ? local? : @explain

    # @param env [Hash] Rack's
    def open?(env)
      return local? if @authorize.nil?

      @authorize == :host || !!@authorize.call(env)
    end

    # True for a request that this page has sent. What can't be told, isn't.
    def same_origin?(env)
      site = env["HTTP_SEC_FETCH_SITE"]
      return site == "same-origin" if site

      origin = URI.parse(env["HTTP_ORIGIN"].to_s)
      own = URI.parse("#{env["rack.url_scheme"]}://#{env["HTTP_HOST"]}")
      return false unless origin.is_a?(URI::HTTP) && !origin.host.to_s.empty? # Ruby 3.3 has an empty one, 3.1 none

      [origin.scheme, origin.host, origin.port] == [own.scheme, own.host, own.port]
    rescue URI::InvalidURIError
      false
    end

    private

    def local? = !!defined?(::Rails) && ::Rails.respond_to?(:env) && %w[development test].include?(::Rails.env.to_s)
  end
end
