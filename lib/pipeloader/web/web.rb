# frozen_string_literal: true

require "cgi/escape"
require "json"
require "securerandom"

module Pipeloader
  # A page that shows what executions take: a Rack application.
  #
  #     require "pipeloader/web"                  # in config/routes.rb; starts the recording
  #     mount Pipeloader::Web => "/pipeloader"
  #
  # `/operations.json` and `/operations/ID.json` have the same as JSON. Outside of Rails' development and test environments it is
  # closed until #authorize says who may see it. See docs/web.md.
  class Web
    PAGE = File.read(File.expand_path("page.html", __dir__), encoding: Encoding::UTF_8).freeze
    HEADERS = { "cache-control" => "no-store", "x-content-type-options" => "nosniff", "referrer-policy" => "no-referrer" }.freeze
    private_constant :PAGE, :HEADERS

    @gate = Gate.new
    @recorder = Recorder.new

    class << self
      # Who may see the page.
      #
      #     Pipeloader::Web.authorize { |env| env["warden"]&.user&.admin? }
      #
      # @yieldparam env [Hash] Rack's
      # @yieldreturn whether the request is answered
      #
      #: () ?{ (Hash[String, untyped]) -> untyped } -> untyped
      def authorize(&block) = block ? @gate.authorize = block : @gate.authorize

      # :host for all requests that reach it, where the host's own routes or middleware let nobody else through; a callable that
      # gets Rack's env; nil for the default.
      #
      # @raise [ArgumentError]
      #
      #: (Symbol | ^(Hash[String, untyped]) -> untyped | nil) -> void
      def authorize=(value)
        @gate.authorize = value
      end

      # True if values are shown, those of binds and those in texts; from the next execution on. Off by default: they may be
      # somebody's.
      #
      #: () -> bool
      def binds = @recorder.binds

      #: (bool) -> void
      def binds=(on)
        before, @recorder.binds = @recorder.binds, on
        @recorder.forget if before && !on
      end

      # True if whoever may see the page may ask for the plan of a recorded SELECT, which isn't executed for it. nil, the default,
      # is true in Rails' development and test environments.
      #
      #: () -> bool?
      def explain = @gate.explain

      # @raise [ArgumentError]
      #
      #: (bool?) -> void
      def explain=(value)
        @gate.explain = value
      end

      # Keeps what operations take by revision of the application (Pipeloader.revision), and shows what has changed since the
      # revision before. Nothing is kept where no revision is known.
      #
      #     Pipeloader::Web.history = Rails.root.join("tmp/pipeloader.json") # or Rails.cache, where each deploy has new files
      #
      # @param place [String, Pathname, #read & #write, nil] a file, which need not exist; a store like Rails.cache; nil for none
      # @raise [ArgumentError]
      #
      #: (untyped) -> void
      def history=(place)
        @recorder.history = (RevisionStore.of(place) unless place.nil?)
      end

      # Records from now on; done by `require "pipeloader/web"`.
      #
      #: () -> void
      def start = @recorder.start.then { nil }

      # Records no more. What is recorded stays.
      #
      #: () -> void
      def stop = @recorder.stop

      # Forgets what is recorded.
      #
      #: () -> void
      def clear = @recorder.forget.then { nil }

      # As Rack calls it.
      #
      #: (Hash[String, untyped]) -> [Integer, Hash[String, String], Array[String]]
      def call(env) = new(env, @gate, @recorder).response
    end

    def initialize(env, gate, recorder) # :nodoc:
      @env = env
      @gate = gate
      @recorder = recorder
    end

    def response # :nodoc:
      status, headers, text = answer
      [status, { **HEADERS, "content-length" => text.bytesize.to_s, **headers }, @env["REQUEST_METHOD"] == "HEAD" ? [] : [text]]
    end

    private

    def answer
      return plain(403, Gate::CLOSED) unless @gate.open?(@env)

      case @env["REQUEST_METHOD"]
      when "GET", "HEAD" then found
      when "POST" then posted
      else plain(405, "Only GET, HEAD and POST.", "allow" => "GET, HEAD, POST")
      end
    end

    def found
      case path
      when "", "/" then page
      when "/operations.json" then json(@recorder.to_h)
      when %r{\A/operations/(\h{16})\.json\z} then operation(Regexp.last_match(1))
      else plain(404, "There is nothing here.")
      end
    end

    def posted
      cleared = path == "/clear"
      asked = path.match(%r{\A/operations/(\h{16})/plans/(\h{16})\z}) unless cleared
      return plain(404, "There is nothing here.") unless cleared || asked
      return plain(403, "Only Pipeloader's own page may ask for this.") unless @gate.same_origin?(@env)
      return plan(*asked.captures) if asked

      @recorder.forget
      json(@recorder.to_h)
    end

    def plan(operation, statement)
      return plain(403, "Plans aren't shown here, unless Pipeloader::Web.explain = true.") unless @gate.explains?

      plan = @recorder.plan(operation, statement)
      plan ? json(plan.to_h) : plain(404, "This statement isn't recorded in this process, or no more.")
    end

    def path = @env["PATH_INFO"].to_s.b

    def operation(id)
      operation, details = @recorder.details(id)
      return plain(404, "This operation isn't recorded, or was forgotten.") unless operation

      json({ **details, explains: @gate.explains?, **fields(operation) })
    end

    # The schema's own code may be asked, and may fail without a request's context.
    def fields(operation)
      return { fields: [], fields_missing: "Several queries are executed together: see each." } if operation.multiplex?
      return { fields: [], fields_missing: "The text is too long to be kept." } unless operation.text

      schema = operation.schema
      return { fields: [], fields_missing: "The schema was reloaded: see after the next execution." } unless schema

      { fields: FieldStates.of(schema, operation.text, operation.name), fields_missing: nil }
    rescue StandardError => e
      { fields: [], fields_missing: "What the schema says of them failed: #{e.class}, #{e.backtrace&.first.to_s[/\A.*?:\d+/]}" }
    end

    def page
      # A policy of the host's would hold beside this one.
      @env["action_dispatch.content_security_policy"] = false
      nonce = SecureRandom.base64(18)
      html = PAGE.gsub(/\{\{(\w+)\}\}/) { $1 == "nonce" ? nonce : CGI.escapeHTML(Masked.utf8(@env["SCRIPT_NAME"])) }
      [200, { "content-type" => "text/html; charset=utf-8", "content-security-policy" => policy(nonce) }, html]
    end

    def policy(nonce)
      "default-src 'none'; script-src 'nonce-#{nonce}'; style-src 'nonce-#{nonce}'; connect-src 'self'; img-src data:; " \
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    end

    def json(data) = [200, { "content-type" => "application/json; charset=utf-8" }, JSON.generate(data)]
    def plain(status, text, headers = {}) = [status, { "content-type" => "text/plain; charset=utf-8", **headers }, text]
  end
end
