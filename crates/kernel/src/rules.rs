//! Access rules: endpoints and formats that a key may use, and networks from which its team may call.

use std::fmt::Display;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::de::DeserializeOwned;
use store::List;
use store::keys::ApiKey;
use store::teams::Team;
use wire::{Action, EndpointGroup, FormatKind, ScrapeOptions};

use crate::AppError;

/// Rules of a key and its team, parsed once for all calls of a caller. Without a rule everything is allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    endpoints: Option<Vec<EndpointGroup>>,
    formats: Option<Vec<FormatKind>>,
    addresses: Option<Vec<IpNet>>,
}

impl Rules {
    /// Reads the rules of a key, if there is one, and of its team.
    ///
    /// # Errors
    /// [`AppError::Internal`] for a rule that cannot be parsed, such as one of a later version: ignoring it would allow
    /// too much.
    pub fn of(key: Option<&ApiKey>, team: &Team) -> Result<Self, AppError> {
        let addresses = match &team.addresses {
            Some(List(networks)) => {
                let networks: Result<Vec<IpNet>, _> = networks.iter().map(|network| network.parse()).collect();
                Some(networks.map_err(AppError::internal)?)
            }
            None => None,
        };
        Ok(Self {
            endpoints: words(key.and_then(|key| key.endpoints.as_ref()))?.map(sorted),
            formats: words(key.and_then(|key| key.formats.as_ref()))?.map(sorted),
            addresses,
        })
    }

    /// Checks a call of an endpoint of `group`. Endpoints without a group are allowed only for keys without a rule.
    ///
    /// # Errors
    /// [`AppError::KeyNotAllowed`].
    pub fn check_endpoint(&self, group: Option<EndpointGroup>) -> Result<(), AppError> {
        match &self.endpoints {
            Some(allowed) if !group.is_some_and(|group| allowed.contains(&group)) => Err(AppError::KeyNotAllowed {
                what: match group {
                    Some(group) => format!("endpoints of the group {}", group.as_str()),
                    None => "this endpoint".to_owned(),
                },
                allowed: named(allowed, EndpointGroup::as_str),
                rule: "endpoints",
            }),
            _ => Ok(()),
        }
    }

    /// Checks a call from `address`.
    ///
    /// # Errors
    /// [`AppError::AddressNotAllowed`].
    pub fn check_address(&self, address: IpAddr) -> Result<(), AppError> {
        let address = address.to_canonical();
        match &self.addresses {
            Some(allowed) if !allowed.iter().any(|network| network.contains(&address)) => {
                Err(AppError::AddressNotAllowed { address })
            }
            _ => Ok(()),
        }
    }

    /// Checks the formats of a request, and the actions that produce the same output.
    ///
    /// # Errors
    /// [`AppError::KeyNotAllowed`], which names the first that is not allowed.
    pub fn check_formats(&self, options: &ScrapeOptions) -> Result<(), AppError> {
        let Some(allowed) = &self.formats else { return Ok(()) };
        let refused = |what: String| AppError::KeyNotAllowed {
            what,
            allowed: named(allowed, FormatKind::as_str),
            rule: "formats",
        };
        for format in &options.formats {
            if !allowed.contains(&format.kind()) {
                return Err(refused(format!("format {}", format.kind().as_str())));
            }
        }
        for action in &options.actions {
            if let Some((word, kind)) = brings(action)
                && !allowed.contains(&kind)
            {
                return Err(refused(format!("the action {word}, which returns the same as format {}", kind.as_str())));
            }
        }
        Ok(())
    }
}

/// Returns the name of an action, and the format with the same output.
fn brings(action: &Action) -> Option<(&'static str, FormatKind)> {
    match action {
        Action::Screenshot(_) => Some(("screenshot", FormatKind::Screenshot)),
        Action::Pdf(_) => Some(("pdf", FormatKind::Screenshot)),
        Action::Scrape => Some(("scrape", FormatKind::RawHtml)),
        Action::Wait(_)
        | Action::Click(_)
        | Action::Write(_)
        | Action::Press(_)
        | Action::Scroll(_)
        | Action::ExecuteJavascript(_) => None,
    }
}

/// Returns a rule as stored in a row; an empty list removes it.
#[must_use]
pub fn list<T>(words: &[T], text: impl Fn(&T) -> String) -> Option<List> {
    Some(List(words.iter().map(text).collect())).filter(|List(words)| !words.is_empty())
}

/// Parses the stored words of a rule.
///
/// # Errors
/// [`AppError::Internal`] for an unknown word.
pub fn words<T: DeserializeOwned>(list: Option<&List>) -> Result<Option<Vec<T>>, AppError> {
    let Some(List(words)) = list else { return Ok(None) };
    let words: Result<Vec<T>, _> = words.iter().map(|word| serde_json::from_value(word.as_str().into())).collect();
    words.map(Some).map_err(AppError::internal)
}

/// Sorts words in the order of the contract, for messages.
fn sorted<T: Ord>(mut words: Vec<T>) -> Vec<T> {
    words.sort_unstable();
    words
}

fn named<T: Copy, D: Display>(words: &[T], name: impl Fn(T) -> D) -> String {
    let names: Vec<String> = words.iter().map(|word| name(*word).to_string()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use wire::{Format, PdfAction, ScreenshotOptions};

    use super::*;

    fn limited(formats: &[FormatKind]) -> Rules {
        Rules { formats: Some(formats.to_vec()), ..Rules::default() }
    }

    #[test]
    fn formats_and_what_brings_the_same() {
        let rules = limited(&[FormatKind::Markdown, FormatKind::Links]);
        let check = |formats: &[Format], actions: &[Action], expect: Result<(), &str>| {
            let options =
                ScrapeOptions { formats: formats.to_vec(), actions: actions.to_vec(), ..ScrapeOptions::default() };
            let found = rules.check_formats(&options).map_err(|error| error.to_string());
            assert_eq!(found, expect.map_err(str::to_owned));
            assert!(Rules::default().check_formats(&options).is_ok());
        };
        check(&[Format::Markdown], &[], Ok(()));
        check(&[Format::Links, Format::Markdown], &[], Ok(()));
        let picture = Format::Screenshot(ScreenshotOptions::default());
        let sentence = "this key may not use format screenshot; it is limited to markdown, links (key rule `formats`)";
        check(&[Format::Markdown, picture], &[], Err(sentence));
        for (action, word, format) in [
            (Action::Screenshot(ScreenshotOptions::default()), "screenshot", "screenshot"),
            (Action::Pdf(PdfAction::default()), "pdf", "screenshot"),
            (Action::Scrape, "scrape", "rawHtml"),
        ] {
            let sentence = format!(
                "this key may not use the action {word}, which returns the same as format {format}; it is limited to \
                 markdown, links (key rule `formats`)"
            );
            check(&[Format::Markdown], &[action], Err(&sentence));
        }
        assert!(limited(&[]).check_formats(&ScrapeOptions::default()).is_err());
    }

    #[test]
    fn endpoints() {
        let rules = Rules { endpoints: Some(vec![EndpointGroup::Scrape, EndpointGroup::Map]), ..Rules::default() };
        assert!(rules.check_endpoint(Some(EndpointGroup::Map)).is_ok());
        let refused = rules.check_endpoint(Some(EndpointGroup::Browser)).unwrap_err().to_string();
        let sentence =
            "this key may not use endpoints of the group browser; it is limited to scrape, map (key rule `endpoints`)";
        assert_eq!(refused, sentence);
        assert!(rules.check_endpoint(None).is_err());
        for group in [Some(EndpointGroup::Browser), None] {
            assert!(Rules::default().check_endpoint(group).is_ok());
        }
    }

    #[test]
    fn addresses() {
        let team = |networks: &[&str]| {
            let networks = networks.iter().map(|network| (*network).to_owned()).collect();
            Team { addresses: Some(List(networks)), ..Team::new("t", "t", DateTime::UNIX_EPOCH) }
        };
        let rules = Rules::of(None, &team(&["10.1.0.0/16", "192.0.2.7/32", "2001:db8:5::/48"])).unwrap();
        let check = |address: &str, expect: bool| {
            assert_eq!(rules.check_address(address.parse().unwrap()).is_ok(), expect, "{address}");
        };
        check("10.1.255.255", true);
        check("10.2.0.0", false);
        check("192.0.2.7", true);
        check("::ffff:192.0.2.7", true);
        check("192.0.2.8", false);
        check("2001:db8:5:ffff::1", true);
        check("2001:db8:6::1", false);
        check("::1", false);
        let refused = rules.check_address("192.0.2.8".parse().unwrap()).unwrap_err().to_string();
        assert!(refused.contains("192.0.2.8") && !refused.contains("10.1"), "{refused}");
        assert!(Rules::of(None, &team(&["10.1.0.0/99"])).is_err(), "a rule that cannot be read is not left out");
    }
}
