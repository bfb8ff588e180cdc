# frozen_string_literal: true

require "open3"
require_relative "projection_case"

class SelectsTest < ProjectionCase
  def test_columns
    assert_reads({ "works" => %w[id type title body] }, "{ works { title excerpt } }")
    assert_reads({ "writers" => %w[id name bio] }, "{ writers { name bioSize } }")
  end

  def test_association_stands_for_its_keys
    assert_reads({ "works" => %w[id type writer_id], "writers" => [nil] }, "{ works { writerBio } }")
  end

  def test_without_opt_in_it_means_nothing
    assert_reads({ "works" => [nil] }, "{ works { title excerpt } }", Library.make(field_exact: false))
    assert_reads({ "works" => [nil] }, "{ works { title excerpt } }", [Library.pair.first] * 2)
  end

  # The first response of a schema finds it, whether it is asked for or not.
  def test_column_that_does_not_exist
    type = Class.new(Library::Base) do
      graphql_name "Genre"
      field :name, String
      field :code, String, selects: %i[cod]
      def code = object.code
    end
    exact = schemas { field :kinds, [type], null: false }.last
    error = assert_raises(Pipeloader::UnknownColumnError) { execute("{ works { title } }", exact) }
    assert_includes error.message, "Genre.code selects `cod`, but genres (Genre) has no such column. Correct `selects:`."
  end

  # (As Rails says it.)
  def test_column_that_does_not_exist_when_an_application_boots
    code = <<~RUBY
      require "pipeloader"
      ActiveRecord::Base.establish_connection(#{TestDatabase.hash.inspect})
      class Post < ActiveRecord::Base; end
      class PostType < GraphQL::Schema::Object
        graphql_name "Post"
        field :title, String
        field :it, String, selects: %i[bodyy]
        def it = object.body.dup.upcase
      end
      class Query < GraphQL::Schema::Object; field :posts, [PostType]; end
      class Untouched < GraphQL::Schema; query Query; use Pipeloader; end
      class Exact < GraphQL::Schema; query Query; use Pipeloader, field_exact: true; end
      Booted = Struct.new(:config)
      Config = Struct.new(:eager_load)
      [false, true].each do |eager|
        ActiveSupport.run_load_hooks(:after_initialize, Booted.new(Config.new(eager)))
        puts "eager: \#{eager}"
      rescue Pipeloader::UnknownColumnError => e
        puts e.message
      end
      ActiveRecord::Base.establish_connection(adapter: "postgresql", host: "/nowhere")
      Exact.remove_instance_variable(:@pipeloader_columns_checked) if Exact.instance_variable_defined?(:@pipeloader_columns_checked)
      Post.reset_column_information
      Post.connection_pool.schema_cache.clear!
      ActiveSupport.run_load_hooks(:after_initialize, Booted.new(Config.new(true)))
      puts "no database"
    RUBY
    said, status = Open3.capture2e(RbConfig.ruby, "-W0", *$LOAD_PATH.map { |it| "-I#{it}" }, "-e", code)
    assert status.success?, said
    assert_equal ["eager: false", "Post.it selects `bodyy`, but posts (Post) has no such column. Correct `selects:`.", "no database"], said.lines(chomp: true)
  end

  # Of which of them its records are, isn't known before one comes.
  def test_column_of_one_of_two_models_of_that_name
    code = <<~RUBY
      require "pipeloader"
      ActiveRecord::Base.establish_connection(#{TestDatabase.hash.inspect})
      class Tag < ActiveRecord::Base; end
      module Blog; class Tag < ActiveRecord::Base; self.table_name = "users"; alias_attribute :label, :name; end; end
      class TagType < GraphQL::Schema::Object
        graphql_name "Tag"
        field :name, String
        field :it, String, selects: %i[label]
        def it = object.label.dup.upcase
      end
      class Query < GraphQL::Schema::Object; field :tags, [TagType]; def tags = Blog::Tag.order(:id).limit(1); end
      class Exact < GraphQL::Schema; query Query; use Pipeloader, field_exact: true; end
      ActiveSupport.run_load_hooks(:after_initialize, Struct.new(:config).new(Struct.new(:eager_load).new(true)))
      puts Exact.execute("{ tags { it } }").to_json
    RUBY
    said, = Open3.capture2e(RbConfig.ruby, "-W0", *$LOAD_PATH.map { |it| "-I#{it}" }, "-e", code)
    assert_equal %({"data":{"tags":[{"it":"USER 1"}]}}\n), said
  end

  # The name tells nothing of the model: it is known when a record comes.
  def test_column_that_does_not_exist_in_a_type_of_another_name
    exact = special(work_type("Volume") { field(:it, String, selects: %i[boddy]); def it = object.body }).last
    assert_same_answer("{ works { title } }", [Library.pair.first, exact])
    error = assert_raises(Pipeloader::UnknownColumnError) { execute("{ specials { it } }", exact) }
    assert_includes error.message, "Volume.it selects `boddy`, but works (Work) has no such column. Correct `selects:`."
    assert_kind_of RuntimeError, error
  end

  # `writers` has no body, but then a writer isn't a Work.
  def test_in_a_union
    assert_reads({ "links" => %w[id target_type target_id], "writers" => %w[id name], "works" => %w[id type body] },
                 "{ links { target { ... on Work { excerpt } ... on Writer { name } } } }")
  end
end
