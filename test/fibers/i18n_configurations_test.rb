# frozen_string_literal: true

require_relative "../support/test_helper"
require "abstract_controller"
require "action_view"
require "open3"

# Code that puts a configuration of I18n in the place of another for a while, as ActionView does for as long as an action of a
# controller's or a mailer's lasts: siblings don't see it, and the one that was there comes back.
class I18nConfigurationsTest < PipeloaderTest
  # As it was before i18n 1.15: a thread has one for all its fibers.
  OF_THREADS = <<~RUBY
    require "i18n"
    module I18n
      Config.undef_method(:owned_by?) if Config.method_defined?(:owned_by?)
      Base.undef_method(:config, :config=)
      module Base
        def config = Thread.current.thread_variable_get(:i18n_config) || Config.new.tap { |it| self.config = it }
        def config=(value)
          Thread.current.thread_variable_set(:i18n_config, value)
        end
      end
    end
  RUBY

  def setup
    @configuration = I18n.config
    I18n.available_locales = %i[en de fr]
  end

  def teardown
    I18n.config = @configuration
    I18n.available_locales = nil
    I18n.locale = :en
    super
  end

  def assert_same_view(fields = 3, &block)
    before = lambda do
      I18n.config = @configuration
      I18n.locale = :en
    end
    plain, piped = Schemas.resolve(fields, before: before, &block)
    assert_equal plain, piped
    assert_equal [:en, true], [I18n.locale, I18n.config.equal?(@configuration)]
    piped
  end

  def test_one_for_a_while
    assert_same_view(4) do |index|
      own = I18n::Config.new.tap { |it| it.locale = %i[de fr en][index % 3] }
      before, I18n.config = I18n.config, own
      begin
        seen = [before.locale, Post.count, I18n.config.equal?(own), I18n.locale, User.count, I18n.config.equal?(own)]
        I18n.locale = :fr
        seen << Tag.count << I18n.locale << own.locale
      ensure
        I18n.config = before
      end
      seen << I18n.locale
    end
  end

  # In a block of plain Ruby, too.
  def test_blocks
    seen = Pipeloader.map(%i[de fr en de]) do |locale|
      before, I18n.config = I18n.config, I18n::Config.new.tap { |it| it.locale = locale }
      [before.locale, Post.count, I18n.locale].tap { I18n.config = before }
    end
    assert_equal %i[de fr en de].map { |it| [:en, 12, it] }, seen
    assert_same @configuration, I18n.config
  end

  # Who leaves it is seen by who comes later.
  def test_one_that_stays
    skip "a fiber keeps it to itself" if I18n::Config.method_defined?(:owned_by?)
    own, configuration = I18n::Config.new.tap { |it| it.locale = :de }, @configuration
    assert_same_view do |index|
      I18n.config = own if index.zero?
      seen = [I18n.config.equal?(own), I18n.locale]
      I18n.config = configuration if index == 2
      seen
    end
  end

  # As a mailer, which the bundle hasn't.
  class Letter < AbstractController::Base
    include ActionView::Rendering
    attr_reader :seen

    def show(locale) = I18n.with_locale(locale) { @seen = [*text, *text] }
    def text = [Post.count, I18n.locale, lookup_context.locale, I18n.config.lookup_context.equal?(lookup_context)]
  end

  def test_letters
    seen = assert_same_view do |index|
      letter = Letter.new
      letter.process(:show, %i[de en fr][index])
      [*letter.seen, I18n.locale, I18n.config.respond_to?(:lookup_context)]
    end
    assert_equal [12, :de, :de, true, 12, :de, :de, true, :en, false], seen.first
  end

  def test_as_before_i18n_1_15
    skip "is that" if ENV["PIPELOADER_I18N"] || !I18n::Config.method_defined?(:owned_by?)
    script = "#{OF_THREADS}\nload #{__FILE__.inspect}"
    output, status = Open3.capture2e({ "PIPELOADER_I18N" => "1" }, RbConfig.ruby, "-w", "--disable-error_highlight", "-Itest", "-Ilib", "-e", script)
    assert_predicate status, :success?, output
  end
end
