# frozen_string_literal: true

# What is named by code that is loaded.
class BasicSocket < IO; end
class UDPSocket < BasicSocket; end

class Socket < BasicSocket
  AF_INET = 2
  AF_INET6 = 10
end
