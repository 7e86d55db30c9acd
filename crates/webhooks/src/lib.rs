//! Webhooks without I/O: exact bodies, signatures, headers and the retry schedule.
//!
//! ```
//! use webhooks::{Event, SigningSecret, body, sign, verify};
//! use wire::event::{COMPLETED, CRAWL};
//!
//! let secret = SigningSecret::generate([7; 32]);
//! let event = Event::new(CRAWL.event(COMPLETED).unwrap());
//! let bytes = body(&event, "job-1", "delivery-1", &Default::default())?;
//! assert_eq!(
//!     String::from_utf8_lossy(&bytes),
//!     r#"{"success":true,"type":"crawl.completed","id":"job-1","webhookId":"delivery-1","data":[],"metadata":{}}"#
//! );
//!
//! // Receiver's side: verify the header X-Service-Signature against the body as received.
//! let header = sign(secret.text(), &bytes);
//! assert!(verify(secret.text(), &bytes, &header));
//! assert!(!verify(secret.text(), b"{}", &header));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod address;
mod body;
mod headers;
mod secret;
mod signature;
mod timetable;

pub use address::{Address, address};
pub use body::{Event, body};
pub use headers::{Message, SIGNATURE, headers, is_ours};
pub use secret::{InvalidSecret, SigningSecret};
pub use signature::{Received, sign, standard_sign, standard_verify, verify};
pub use timetable::{ATTEMPTS, AttemptVerdict, DEADLINE, PAUSES, ReceiverAnswer, verdict};
