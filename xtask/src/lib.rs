//! The project's own tool: `cargo xtask help`. What measures and attacks the real server is the package `lab`, which uses
//! the parts of this one that are public.

mod cases;
mod check;
mod cli;
mod codegen;
pub mod db;
mod fuzz;
mod layers;
mod migration;
pub mod setup;
pub mod sh;
mod sizes;
mod test;
mod train;
pub mod up;

pub use cli::run;
