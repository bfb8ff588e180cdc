# frozen_string_literal: true

require "active_support/time"
require "bigdecimal"

module Pipeloader
  # Methods that do nothing but to work something out, for any value that there can be: a column's, a literal, or what such a
  # method returns, of one of CLASSES. Each has to be Ruby's own, or ActiveSupport's.
  module KnownMethods
    CLASSES = [NilClass, TrueClass, FalseClass, Integer, Float, Rational, BigDecimal, String, Symbol, Regexp, Range, Array, Hash,
               Enumerator, Enumerator::Chain, Enumerator::ArithmeticSequence, Date, Time, ActiveSupport::TimeWithZone,
               ActiveSupport::Duration].to_set.compare_by_identity.freeze

    # Nothing that changes its receiver, is random, asks a clock or a configuration with code in it, or tells one object from
    # another that is like it.
    NAMES = %i[
      == != ! =~ === < <= > >= <=> + - * / % & | ^ -@ +@ ~ [] eql? nil? between? clamp in? itself
      blank? present? presence empty? any? all? none? include? exclude? key? cover?
      zero? positive? negative? even? odd? nan? finite? integer?
      to_s to_str to_i to_f to_sym to_a inspect
      size length bytesize count sum min max first last second third at from to take drop reverse rotate sort uniq compact
      compact_blank flatten join dig tally fetch values_at keys values zip
      strip lstrip rstrip chomp chop chars lines upcase downcase upcase_first capitalize swapcase sub gsub tr tr_s squeeze squish
      ljust rjust center split partition rpartition index rindex scan slice start_with? end_with? delete_prefix delete_suffix
      match? casecmp casecmp? ord hex oct succ pred
      remove truncate truncate_words titleize titlecase humanize camelize underscore dasherize
      abs round floor ceil div modulo fdiv divmod digits
      year month mon day mday wday yday hour min sec usec nsec iso8601 strftime before? after?
    ].to_set.freeze

    # Methods that do no more where a String is written as their argument. Without one, `in_time_zone` asks for the request's
    # zone; given seconds, which zones have that offset today.
    WITH_TEXT = %i[in_time_zone].to_set.freeze
    # What these call in turn that isn't a value's.
    ZONES = [[Time.singleton_class, :find_zone!], [ActiveSupport::TimeZone.singleton_class, :[]],
             [ActiveSupport::TimeZone, :parse], [ActiveSupport::TimeWithZone, :initialize]].freeze

    # Methods that these call on a value in turn, and that are Ruby's own.
    INSIDE = %i[
      to_s hash eql? == === <=> coerce to_str to_ary to_hash dup length [] []= include? respond_to_missing? method_missing
    ].freeze
    # Those that only ActiveSupport's code calls, in which nobody's refinement is used: not ruby-next's of `strip!`, either.
    DEEP_INSIDE = %i[gsub! sub! strip! lstrip! rstrip! tr! downcase! upcase! capitalize! delete_suffix! slice!].freeze

    # Methods that make an Array or a Hash of values: to write that calls `inspect` on each.
    COLLECTING = %i[newarray newhash].freeze

    # Methods that may be called with one of NAMES in place of a block, or with one that only computes: `map(&:strip)`.
    ITERATIONS = %i[
      map collect flat_map filter_map select filter reject find detect any? all? none? one? count sum sort_by min_by max_by
      group_by partition uniq take_while drop_while index_by
    ].to_set.freeze
    # Of modules that come with Ruby, which do no more than to make one such value of others.
    FUNCTIONS = {
      CGI: %i[escape unescape escapeHTML unescapeHTML], URI: %i[encode_www_form_component decode_www_form_component],
      Base64: %i[encode64 decode64 strict_encode64 strict_decode64 urlsafe_encode64 urlsafe_decode64],
      Math: %i[sqrt cbrt log log2 log10 exp hypot sin cos tan atan2]
    }.freeze
    private_constant :CLASSES, :NAMES, :WITH_TEXT, :ZONES, :INSIDE, :DEEP_INSIDE, :COLLECTING, :ITERATIONS, :FUNCTIONS

    @rubys = {}
    @defined = {}

    class << self
      # True if a method does no more for any value that there can be.
      def callable?(name) = NAMES.include?(name) && rubys?(name)

      # True if that is so of one that is given a String which is written there.
      def callable_with_text?(name)
        WITH_TEXT.include?(name) && rubys?(name) && ZONES.all? { |home, inside| rubys_in?(home, inside) }
      end

      # True if that is so of one that is given a block which does no more, either.
      def iterates?(name) = ITERATIONS.include?(name) && rubys?(name)

      # True if `public_send` calls what it is told to, of any such value.
      def sends? = rubys?(:public_send)

      # True if a +host+'s method of that name is one of FUNCTIONS.
      def function?(host, name)
        names = FUNCTIONS[Module.instance_method(:name).bind_call(host)&.to_sym] or return false
        names.include?(name) && !refined?(name) && Provenance.library_alone?(host.method(name))
      end

      # True if somebody has made another method of that name, for some code.
      def refined?(name) = refined.include?(name)

      # True if a +value+ is of classes that there can be.
      def literal?(value)
        case value
        when Array then value.all? { |item| literal?(item) }
        when Hash then value.all? { |pair| literal?(pair) }
        else CLASSES.include?(value.class)
        end
      end

      # True if all that the steps' calls may call in turn is Ruby's own.
      def alone_in?(steps)
        (shows?(steps) ? [*INSIDE, :inspect] : INSIDE).all? { |it| rubys?(it) } && DEEP_INSIDE.all? { |it| defined_by_ruby?(it) }
      end

      # Somebody refines more: code that is loaded from now on may mean another method.
      def forget
        @refined = nil
        @rubys = {} # who is working out an answer keeps it in the old one
      end

      private

      def shows?(steps)
        steps.any? { |name, *rest| collects?(name, *rest) || rest.grep(Hash).any? { |call| call[:mid] == :% } }
      end

      def collects?(name, size = nil, *) = COLLECTING.include?(name) && size != 0

      # True if nobody else has defined it for a value that there can be, by the time it is first asked.
      def rubys?(name)
        rubys = @rubys
        rubys.fetch(name) { rubys[name] = !refined.include?(name) && CLASSES.all? { |known| rubys_in?(known, name) } }
      end

      # The same, whether or not somebody refines it.
      def defined_by_ruby?(name)
        @defined.fetch(name) { @defined[name] = CLASSES.all? { |known| rubys_in?(known, name) } }
      end

      def rubys_in?(known, name)
        defined = known.method_defined?(name) || known.private_method_defined?(name)
        !defined || Provenance.core_alone?(known.instance_method(name))
      end

      # The class that has it, and where it is used, don't matter.
      def refined
        @refined ||= ObjectSpace.each_object(Refinement).flat_map { |it| it.instance_methods(false) }.to_set
      end
    end
  end
end
