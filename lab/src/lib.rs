//! Support for experiments and for tests of the real programs: processes of the service, and calls to them.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use lab::{Installation, programs};
//!
//! let installation = Installation::new(programs::release()?)?.set("worker.per_host", "20");
//! let server = installation.server()?;
//! let page = server.client(None)?.scrape(&serde_json::json!({ "url": "https://example.com" })).await?;
//! println!("{:?}, {:.0} MiB", page.data.markdown, server.memory()?.now);
//! # Ok(())
//! # }
//! ```

mod node;
pub mod programs;
pub mod service;

pub use node::{Counts, Installation, Memory, MemoryWatch, Node, Process, Tree, adopt_orphans, cpu};
