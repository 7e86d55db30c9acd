//! Development tool of the project: `cargo xtask help`. Benchmarks and attacks on the real server are in the package `lab`,
//! which uses the public parts of this crate.

mod cases;
mod check;
mod cli;
mod codegen;
pub mod db;
mod functions;
mod fuzz;
mod layers;
mod migration;
mod parameters;
pub mod setup;
pub mod sh;
mod sizes;
mod test;
mod train;
pub mod up;

pub use cli::run;
