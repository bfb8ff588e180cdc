# frozen_string_literal: true

module Pipeloader
  # A method as it was found: the one that is called by that name, or one above, which that calls by `super`.
  #
  # above: how many of its name are called before it
  Watched = Struct.new(:receiver, :name, :above, :found) do
    # True if there is another by now.
    def over?
      above.times.inject(receiver.method(name)) { |it, _| it&.super_method } != found
    rescue NameError # there is none
      true
    end
  end

  # As Watched, a method of the instances of +host+.
  Watched::OfInstances = Struct.new(:host, :found) do
    def over?
      host.instance_method(found.name) != found
    rescue NameError # there is none
      true
    end
  end
end
