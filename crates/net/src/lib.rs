//! Outgoing HTTP: one client that checks every destination address, limits time, size and redirects, supports proxies and
//! decodes bodies.
//!
//! ```
//! use net::{Client, Config, Error, Request};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let client = Client::new(Config::default()).unwrap();
//! let request = Request::get("http://127.0.0.1/".parse().unwrap());
//! let refused = client.send(request).await.unwrap_err();
//! assert!(matches!(refused, Error::Blocked { .. }));
//! # });
//! ```

mod address;
mod body;
mod client;
mod coding;
mod config;
mod cookies;
mod dial;
mod download;
mod egress_proxy;
mod error;
mod guard;
mod head;
mod host_names;
mod in_flight;
mod link;
mod own;
mod pool;
mod post;
mod proxy;
mod redirect;
mod request;
mod resolve;
mod stream;
mod tls;
mod tls_quirks;

pub use address::{NOT_PUBLIC, advice, classify};
pub use client::Client;
pub use config::{Allow, Config, ConfigError, Destination, Egress, Limits};
pub use download::Download;
pub use egress_proxy::{Admits, EgressPass, EgressProxy};
pub use error::Error;
pub use in_flight::{InFlight, Room};
pub use post::{Post, Posted};
pub use proxy::Proxy;
pub use request::{Request, Response};
