# frozen_string_literal: true

# Before Schema::Object, for which the gem's older versions ask.
require "graphql/schema"
require "graphql-pagination"
