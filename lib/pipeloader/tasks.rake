# frozen_string_literal: true

namespace :pipeloader do
  desc "Say which fields of each schema, or of SCHEMA, Pipeloader compiles, and where the code is that keeps others from it"
  task coverage: :environment do
    Rails.application.eager_load!
    all = GraphQL::Schema.descendants.select { |schema| schema.name && schema.respond_to?(:pipeloader_footprints) }
    schemas = ENV.key?("SCHEMA") ? [ENV.fetch("SCHEMA").constantize] : all
    abort "No schema has `use Pipeloader`." if schemas.empty?

    schemas.each { |schema| puts "#{schema.name}\n#{Pipeloader.explain_schema(schema)}\n\n" }
  end

  desc "Delete the file of what each operation takes in tests, and say how these write it anew"
  task :budgets do
    require "pipeloader/report/budgets"
    rm_f Pipeloader::Budgets.path
    puts "Now run all tests that include Pipeloader::Assertions::Budgeted with PIPELOADER_BUDGETS=write in their environment:",
         "PIPELOADER_BUDGETS=write bin/rails test, for example. They write #{Pipeloader::Budgets.path}."
  end
end
