# frozen_string_literal: true

require "socket"

module Pipeloader
  module Patches
    # Host:: BasicSocket, UDPSocket, OpenSSL::SSL::SSLSocket once it is loaded, Kernel, Process, IO, PG::Connection
    # Since:: Ruby 3.1, pg 1.5
    # Why no public seam does it:: a resolver that calls another process, or waits for one, has it write before it reads. What has
    #   been read ahead is from before. Whatever is sent, by whichever client in Ruby, ends in one of these methods.
    # Falls through when:: the current fiber is not a resolver's; of a connection to PostgreSQL, when it is ActiveRecord's.
    module Outside
      SENDING = %i[write write_nonblock syswrite send sendmsg sendmsg_nonblock].freeze
      RUNNING = %i[system spawn ` sleep wait wait2 waitpid waitpid2 popen].freeze
      ASKING = %i[exec exec_params exec_prepared query async_exec async_exec_params async_exec_prepared async_query sync_exec
                  sync_exec_params sync_exec_prepared get_result get_last_result wait_for_notify].freeze
      CONNECTING = %i[new connect open setdb setdblogin async_connect sync_connect].freeze
      # True while ActiveRecord makes a connection.
      OURS = :pipeloader_connects
      private_constant :SENDING, :RUNNING, :ASKING, :CONNECTING, :OURS

      class << self
        def install
          [::BasicSocket, ::UDPSocket].each { |host| install_on_socket(host) }
          ::Kernel.prepend(calls(::Kernel, RUNNING))
          [::Kernel, ::Process, ::IO].each { |host| host.singleton_class.prepend(calls(host.singleton_class, RUNNING)) }
          install_on_pg
        end

        def install_on_socket(host) = host.prepend(calls(host, SENDING))

        # As early as pg is there: an initializer's connection is often made before ActiveRecord's.
        def install_on_pg
          return if @on_pg || !defined?(::PG::Connection)

          @on_pg = true
          ::PG::Connection.singleton_class.prepend(connecting(calls(::PG::Connection, ASKING)))
        end

        # @param adapter_class [Class] PostgreSQLAdapter
        def install_on_postgresql(adapter_class)
          adapter_class.singleton_class.prepend(Clients)
          install_on_pg
        end

        private

        # @return [Module] by which connections that aren't ActiveRecord's are extended with +sessions+
        def connecting(sessions)
          names = CONNECTING & ::PG::Connection.singleton_class.public_instance_methods
          Module.new do
            names.each do |name|
              define_method(name) do |*arguments, **options, &block|
                super(*arguments, **options, &block).tap do |connection|
                  connection.extend(sessions) unless Thread.current[OURS] || !connection.is_a?(::PG::Connection)
                end
              end
            end
          end
        end

        # @return [Module] of those of the methods that +host+ has. Outside of a response they only call the host's.
        def calls(host, names)
          hidden, open = [host.private_instance_methods, host.public_instance_methods].map { |all| names & all }
          Module.new do
            (hidden + open).each do |name|
              define_method(name) do |*arguments, **options, &block|
                response = Response.here or return super(*arguments, **options, &block)
                ResolverFiber.current&.await_turn_to_act
                begin
                  response.outdate
                  super(*arguments, **options, &block)
                ensure
                  response.outdate
                end
              end
            end
            private(*hidden)
          end
        end
      end

      # ActiveRecord's own connections are asked by an adapter.
      module Clients
        def new_client(...)
          outer, Thread.current[OURS] = Thread.current[OURS], true
          super
        ensure
          Thread.current[OURS] = outer
        end
      end
    end
  end
end
