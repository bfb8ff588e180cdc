# frozen_string_literal: true

# Reads of one SQL text that become one statement answer as each by itself would. From two on, here, so that all that can be
# is coalesced; and each is run twice, since the first run tells the server's types.
module CoalescedFromTwo
  def setup
    super
    @from = replace_from(2)
  end

  def teardown
    replace_from(@from)
    super
  end

  def replace_from(number)
    was = Pipeloader::Coalesced.send(:remove_const, :WORTH)
    Pipeloader::Coalesced.const_set(:WORTH, number)
    was
  end
end
