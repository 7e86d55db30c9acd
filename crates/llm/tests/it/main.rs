//! Models behind one method, against a scripted server.

mod budgets;
mod endpoints;
mod extract;
mod forms;
mod retries;
mod world;
