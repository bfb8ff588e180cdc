# frozen_string_literal: true

# Reads code: whose a method is, what Ruby has compiled it to, what a constant may stand for, which methods only compute, and
# on what conditions code does more.
#
# In: methods. Out: facts, instructions in the same words on every Ruby, values of constants. Called by: proof, and whoever asks
# whose a method is.

require "pipeloader/code/provenance"
require "pipeloader/code/common_steps"
require "pipeloader/code/bytecode"
require "pipeloader/code/block_code"
require "pipeloader/code/local_variables"
require "pipeloader/code/captured"
require "pipeloader/code/own_attribute"
require "pipeloader/code/constant_names"
require "pipeloader/code/owners_values"
require "pipeloader/code/known_methods"
require "pipeloader/code/symbolic_execution"
require "pipeloader/code/watched"
require "pipeloader/code/state_machines"
require "pipeloader/code/redefined"
require "pipeloader/code/execution_state"
require "pipeloader/code/environment_variable"
