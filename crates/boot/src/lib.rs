//! Common parts of the programs: settings, assembly of the service, process lifecycle with graceful shutdown, logs, metrics
//! and health.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
//! use boot::config::Config;
//!
//! let folder = tempfile::tempdir()?;
//! let mut config = Config::default();
//! config.worker.listen = "127.0.0.1:0".parse()?;
//! config.data.dir = folder.path().to_owned();
//! let running = boot::worker::start(config).await?;
//! assert_ne!(running.address.port(), 0);
//! assert!(running.stop().await);
//! # Ok(())
//! # })
//! # }
//! ```

mod abilities;
mod background;
pub mod browser;
pub mod config;
pub mod data;
pub mod health;
pub mod logging;
pub mod metrics;
pub mod operator;
mod own;
mod parts;
pub mod process;
pub mod worker;

pub use background::Background;
pub use parts::{bind, client, lists_folder, open, open_store, worker_settings};

use config::ConfigError;

/// Error at the start of a program.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Invalid setting; the message begins with its key.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database cannot be prepared.
    #[error("cannot start the service")]
    App(#[from] app::AppError),
}
