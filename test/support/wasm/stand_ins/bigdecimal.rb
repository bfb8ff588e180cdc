# frozen_string_literal: true

# Numbers of that class aren't made.
class BigDecimal < Numeric; end
