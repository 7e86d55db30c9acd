//! Tests against a scripted model.

mod asking;
