//! Amounts and currencies.
