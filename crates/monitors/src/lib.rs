//! Monitors: pages, sites and searches that are checked on a schedule, and what has changed there.
//!
//! A fire of a schedule is a job ([`Fire`]) that begins a check: its row, its runs, the reservation of its credits and the
//! next fire are written in one transaction. The pages of a check are those of runs, of the [`kinds`] of this crate, and
//! are recorded for the check in the transaction that records them for the run. Judgments ([`Judge`]) and searches
//! ([`Search`]) are jobs of their own. A check ends with the last of its parts; mails about it ([`SendMail`])
//! and messages to chat channels ([`SendChat`]) follow.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

mod attempt;
mod begin;
mod call;
mod chat;
mod content;
mod create;
mod draft;
mod end;
mod error;
mod events;
mod fire;
#[cfg(test)]
mod fixture;
mod judge;
mod kind;
mod link;
mod look;
mod mail;
mod metrics;
pub mod operator;
mod payload;
mod plan;
mod progress;
mod quiet;
mod read;
mod record;
mod remove;
mod search;
mod secrets;
mod state;
mod told;
mod update;
pub mod upkeep;
mod view;

pub use self::mail::{MAILS, MailPayload, Recipient, SendMail, confirm, recipient, unsubscribe};
pub use ::mail::Purpose;
pub use attempt::Outcome;
pub use call::run;
pub use chat::{CHATS, ChatPayload, SendChat};
pub use create::create;
pub use error::MonitorsError;
pub use fire::Fire;
pub use judge::Judge;
pub use kind::{CRAWL, PAGES, kinds};
pub use payload::{FirePayload, JUDGE, JudgePayload, MONITORS, SearchPayload};
pub use read::{CheckPart, check, checks, list, read};
pub use remove::remove;
pub use search::Search;
pub use state::{FoundResult, MailParts, MonitorSettings, Monitors, Parts, WebSearch};
pub use update::update;
