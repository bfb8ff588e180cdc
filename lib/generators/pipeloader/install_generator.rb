# frozen_string_literal: true

require "rails/generators"
require "ripper"

module Pipeloader
  module Generators
    # Puts `use Pipeloader` into the application's schema, and writes config/initializers/pipeloader.rb.
    class InstallGenerator < ::Rails::Generators::Base
      source_root File.expand_path("templates", __dir__)
      desc "Adds `use Pipeloader` to the schema, and an initializer with all settings and their defaults."
      class_option :schema, type: :string, desc: "The schema's class or file, if there are several: AppSchema, lib/my_schema.rb"

      FOLDER = "app/graphql"
      # A class that is a schema, and lines of it.
      SCHEMA = /^ *class +(?:\w+::)*\w+ *< *(?:::)?GraphQL::Schema\b(?!::)/
      HEAD = /#{SCHEMA}[ \t]*(?:#.*)?\n/
      DATALOADER = /^ *use\(? *GraphQL::Dataloader\b.*(?<![,({ ]) *\n/ # which ends there
      OURS = /^ *use\(? *(?:::)?Pipeloader\b.*\n/
      private_constant :FOLDER, :SCHEMA, :HEAD, :DATALOADER, :OURS

      def create_initializer
        copy_file "initializer.rb", "config/initializers/pipeloader.rb"
      end

      def use_in_schema
        if behavior == :revoke
          files.each { |file| take_out(file) }
        elsif files.one?
          put_in(files.first)
        else
          say(advice, :yellow)
        end
      end

      private

      # @return [Array<String>] of the schemas that are meant
      def files = options[:schema] ? [named(options[:schema])] : schemas

      # @param given [String] a class or a file
      def named(given)
        file = given.end_with?(".rb") ? given : "#{FOLDER}/#{given.underscore}.rb"
        return file if File.exist?(path_of(file))

        raise Thor::Error, "#{file} doesn't exist. Name the schema's class or file: --schema AppSchema, --schema lib/my_schema.rb"
      end

      # @return [Array<String>] files of schemas
      def schemas
        @schemas ||= Dir.glob("#{FOLDER}/**/*_schema.rb", base: destination_root).sort.grep(->(it) { text_of(it).match?(SCHEMA) })
      end

      def advice
        several = schemas.map { |file| "\n    --schema #{file}" }.join
        return "#{FOLDER} has several schemas. Run this again for each that is to use Pipeloader:#{several}" if schemas.any?

        <<~TEXT
          No class < GraphQL::Schema was found in #{FOLDER}/**/*_schema.rb. `rails generate graphql:install` makes one; one that is
          elsewhere is named by --schema path/to/it.rb. Or write the line yourself:

              class AppSchema < GraphQL::Schema
                use Pipeloader
              end
        TEXT
      end

      def put_in(file)
        text = text_of(file)
        return say_status(:identical, "#{file} has `use Pipeloader`", :blue) if text.match?(OURS)

        place = [DATALOADER, HEAD].find { |it| text.match?(it) }
        return say("#{file} has no line `class … < GraphQL::Schema`. Write `use Pipeloader` into it.", :yellow) unless place

        indentation = "#{text[place][/\A */]}#{"  " if place == HEAD}"
        changed = text.sub(place) { |line| "#{line}#{indentation}use Pipeloader\n" }
        change(file, changed, :insert, "Write `use Pipeloader` into #{file} by hand: the line before has several lines.")
      end

      def take_out(file)
        text = text_of(file)
        return unless text.match?(OURS)

        change(file, text.sub(OURS, ""), :subtract, "Take `use Pipeloader …` out of #{file} by hand: it has several lines.")
      end

      # Where a call has several lines, its author knows where they end: without the first, or with one between, it isn't Ruby.
      def change(file, text, status, by_hand)
        return say(by_hand, :yellow) unless Ripper.sexp(text)

        say_status(status, file)
        File.write(path_of(file), text) unless options[:pretend]
      end

      def text_of(file) = File.read(path_of(file))

      def path_of(file) = File.expand_path(file, destination_root)
    end
  end
end
