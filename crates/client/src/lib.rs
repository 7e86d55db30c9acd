//! Client of the v2 API: typed calls with the types of `wire`, and raw calls of any path.
//!
//! Every call is sent once, without retries. An error response is [`Error::Refused`] with the body that the service
//! sent; retrying is up to the caller.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # // A stand-in for the service.
//! # let site = testkit::Site::start().await;
//! # let json = |status, body: &'static str| testkit::Reply { status, body: body.into(), ..testkit::Reply::default() };
//! # site.respond("/v2/scrape", json(200, r##"{"success":true,"data":{"markdown":"# Granite","metadata":{}}}"##));
//! # site.respond("/v2/map", json(402, r#"{"success":false,"code":"insufficient_credits","error":"no credits are left"}"#));
//! # let address = format!("http://{}", site.addr());
//! use client::{Client, Error};
//! use serde_json::json;
//!
//! let client = Client::new(&address, Some("fc-the-key-of-a-team"))?;
//! let page = client.scrape(&json!({ "url": "https://example.com/granite" })).await?;
//! assert_eq!(page.data.markdown.as_deref(), Some("# Granite"));
//!
//! let refused = client.map(&json!({ "url": "https://example.com" })).await.unwrap_err();
//! assert_eq!(refused.to_string(), "402 insufficient_credits: no credits are left");
//! let Error::Refused(refusal) = refused else { unreachable!() };
//! assert_eq!(refusal.body.code, wire::Code::InsufficientCredits);
//! # Ok::<(), Error>(())
//! # }).unwrap();
//! ```

mod call;
mod error;
mod raw;
mod run;
mod transport;
mod watch;

pub use error::{Error, Refusal, Result};
pub use raw::Raw;
pub use run::{Run, RunKind};
pub use transport::{Client, DEFAULT_TIMEOUT};
pub use watch::{Message, Watcher};
