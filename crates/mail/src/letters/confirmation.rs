//! The letter that asks a recipient whether it wants others.

use url::Url;

use crate::content::one_line;
use crate::{Content, Part};

/// Asks a recipient to confirm that it wants the letters of a monitor, and of the others of its team. `confirm` opens a
/// page with a button; opening it changes nothing.
#[must_use]
pub fn confirmation(monitor: &str, confirm: &Url) -> Content {
    let monitor = one_line(monitor, 80);
    Content::new("Confirm the mails of a monitor")
        .with(Part::Heading("Do you want these mails?".to_owned()))
        .with(Part::Text(format!(
            "A monitor of web pages named “{monitor}” wants to tell this address when something changes. To confirm covers \
             all monitors of its team."
        )))
        .with(Part::Button { text: "Yes, confirm".to_owned(), url: confirm.clone() })
        .with(Part::Text(
            "If you do not know of it, do nothing: this is the only mail that you get without your consent.".to_owned(),
        ))
}
