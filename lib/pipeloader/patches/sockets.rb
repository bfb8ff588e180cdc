# frozen_string_literal: true

require "socket"

module Pipeloader
  module Patches
    # Host:: BasicSocket (Ruby's own) and, once it is loaded, OpenSSL::SSL::SSLSocket
    # Since:: Ruby 3.1
    # Why no public seam does it:: a resolver that calls another process, by whichever client, has it write before it reads.
    #   What has been read ahead is from before.
    # Falls through when:: the current fiber is not a resolver's.
    module Sockets
      NAMES = %i[write write_nonblock syswrite send sendmsg sendmsg_nonblock print puts printf putc].freeze
      private_constant :NAMES

      def <<(text)
        ResolverFiber.current&.outdate
        super
      end

      NAMES.each do |name|
        class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
          def #{name}(...) # def write(...)
            ResolverFiber.current&.outdate
            super
          end
        RUBY
      end
    end
  end
end
