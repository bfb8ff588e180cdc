# frozen_string_literal: true

module Pipeloader
  # Proves that graphql-ruby wraps a record in its object type without any code of the application's seeing it.
  class PlainType
    CLASS_METHODS = %i[authorized? authorized_new wrap wrap_scoped scoped_new new].freeze
    INSTANCE_METHODS = %i[initialize object respond_to? respond_to_missing? method_missing].freeze
    private_constant :CLASS_METHODS, :INSTANCE_METHODS

    # @return [String, nil] what stands in the way; nil if it is plain
    def self.objection(type)
      own = own_of_class(type).first
      return "#{type.graphql_name}: `#{own}` on #{type.method(own).owner.inspect}" if own

      objection_to_instances(type)
    end

    # True if nothing but its `authorized?` stands in the way.
    def self.guarded?(type)
      own_of_class(type) == %i[authorized?] && type.respond_to?(:authorized?) && objection_to_instances(type).nil?
    end

    # A private `authorized?`, too: graphql-ruby itself has made `new` protected.
    def self.own_of_class(type)
      CLASS_METHODS.select { |name| type.respond_to?(name, name == :authorized?) && !Provenance.graphql?(type.method(name)) }
    end
    private_class_method :own_of_class

    # As above, where the record is wrapped already.
    def self.objection_to_instances(type)
      own = INSTANCE_METHODS.find { |name| !Provenance.graphql?(type.instance_method(name)) }
      "#{type.graphql_name}: `#{own}` on #{type.instance_method(own).owner}" if own
    end
  end
end
