//! Tests of the index in a real folder.
