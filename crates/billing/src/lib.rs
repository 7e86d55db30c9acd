//! Prices and the credit ledger: quotes before the work, charges after it, and double-entry bookkeeping. Arithmetic
//! only, no I/O.
//!
//! ```
//! use billing::{Command, Delivered, Ledger, charge, quote};
//! use wire::ScrapeOptions;
//!
//! let options = ScrapeOptions::default();
//! let mut ledger = Ledger::default();
//! ledger.apply("team", "plan", &Command::Grant { amount: 10 })?;
//! ledger.apply("team", "scrape:1", &Command::Reserve { amount: quote(&options) })?;
//!
//! let cost = charge(&options, &Delivered::pages(1));
//! let post = Command::Post { reservation: "scrape:1".into(), amount: cost };
//! ledger.apply("team", "scrape:1/post", &post)?;
//! assert_eq!(ledger.balance("team").available, 9);
//! # Ok::<(), billing::LedgerError>(())
//! ```

mod booking;
mod ledger;
mod price;
mod session;

pub use booking::{
    Account, Balance, Command, Entry, Hold, LedgerError, Posting, Transfer, entries, post_key, step, void_key,
};
pub use ledger::{Applied, Ledger, Record};
pub use price::{
    Delivered, EXTRAS, Extra, LOCKDOWN_HIT, LOCKDOWN_MISS, MAP, Outcome, PAGE, PRIVATE_SEARCH, RESULTS, SEARCH, charge,
    extras, price, quote, quote_pages, search,
};
pub use session::{PROMPTED_SESSION_MINUTE, SESSION_MINUTE, SessionKind, prompt_extra, session};
