//! Fakes for tests and tools: a scriptable web server, a DNS server, an S3-compatible store, a forward proxy, a model
//! server, a mail server, a canary that must not be reached, a manual clock, a small disk; and the captured log of a
//! thread.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use testkit::{Answer, Dns, Site};
//!
//! let site = Site::start().await;
//! site.html("/", "<h1>hello</h1>");
//! let dns = Dns::start().await;
//! dns.set("origin.test", Answer::from(site.addr().ip()));
//! assert_eq!(site.url("/").path(), "/");
//! assert!(site.requests().is_empty() && dns.queries().is_empty());
//! # });
//! ```

mod body;
mod bucket;
mod canary;
mod clock;
mod dns;
mod folder;
mod log;
mod mail;
mod model;
mod pdf;
mod site;
mod small_disk;
mod tunnel;

pub use body::{Body, Encoding};
pub use bucket::{Bucket, StoreOutage};
pub use canary::Canary;
pub use clock::ManualClock;
pub use dns::{Answer, Dns, Query};
pub use folder::files_below;
pub use log::CapturedLog;
pub use mail::{MailServer, TakenMail};
pub use model::{Asked, AskedForm, ModelFault, ModelLacks, ModelServer};
pub use pdf::Pdf;
pub use site::{H2Attack, Reply, Script, Seen, Site, h2_frame};
pub use small_disk::SmallDisk;
pub use tunnel::Tunnel;
