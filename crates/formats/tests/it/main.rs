//! Whole pages in, formats out.

mod cases;
mod hostile;
mod properties;
