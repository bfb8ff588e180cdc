# frozen_string_literal: true

module Fuzz
  # A program that differs, as a Ruby file that runs by itself: `bundle exec ruby -Ilib -Itest file.rb`.
  module Script
    class << self
      # @param report [Trial::Report]
      def write(folder, seed, world, text, report)
        FileUtils.mkdir_p(folder)
        file = "#{folder}/seed-#{seed}-#{report.status}.rb"
        File.write(file, script(seed, world, text, report))
        file
      end

      # As a comment or for the terminal.
      def describe(report)
        finding = report.finding
        return report.message.to_s if finding.nil? || finding.check.nil? || report.status == :unexplained

        ["#{finding.check}; document #{finding.document}, execution #{finding.execution}", *differences(finding.plain, finding.piped)].join("\n")
      end

      private

      def differences(plain, piped)
        (plain.keys | piped.keys).reject { |key| plain[key] == piped[key] }
                                 .flat_map { |key| ["plain #{key}: #{plain[key]}", "piped #{key}: #{piped[key]}"] }
      end

      def script(seed, world, text, report)
        <<~RUBY
          # frozen_string_literal: true

          # bin/fuzz --seed #{seed}: #{world.engine}
          #{describe(report).lines.map { |line| "# #{line.chomp}"[0, 400] }.join("\n")}
          #
          # bundle exec ruby -Ilib -Itest #{File.basename("seed-#{seed}")}-#{report.status}.rb
          require "json"
          require "logger"
          require "pg"
          require "pipeloader"
          require "graphql/batch"
          require "support/private_cluster"

          #{File.read("#{__dir__}/runner.rb").sub(/\A# frozen_string_literal: true\n+/, "")}
          runner = Fuzz::Runner.new(engine: #{world.engine.inspect}, database: PrivateCluster.connection_hash)
          runner.load(DATA.read, __FILE__)
          finding = runner.check([#{check(report)}])
          puts finding.status
          (finding.plain.to_h.keys | finding.piped.to_h.keys).each do |key|
            puts "plain \#{key}: \#{finding.plain[key]}", "piped \#{key}: \#{finding.piped[key]}" if finding.plain[key] != finding.piped[key]
          end
          #{"runner.explanations" if report.status == :unexplained}
          runner.close

          __END__
          #{text}
        RUBY
      end

      def check(report)
        check = report.finding&.check || Check.new(run: :execute, compile: true, field_exact: false, cache: false)
        "Fuzz::Check.new(#{check.to_h.map { |key, value| "#{key}: #{value.inspect}" }.join(", ")})"
      end
    end
  end
end
