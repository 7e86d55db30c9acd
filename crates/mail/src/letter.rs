//! A letter, and the message that goes over the wire.

use base::Timestamp;
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use sha2::{Digest, Sha256};
use url::Url;

use crate::plain::plain;
use crate::{Address, Content, SendError};

/// Longest address in a header; a line of a message has 998 characters (RFC 5322, 2.1.1).
const MAX_HEADER_URL: usize = 900;

/// One letter for one recipient.
#[derive(Debug, Clone)]
pub struct Letter<'a> {
    /// Names the letter: the same key gives the same Message-ID, so that another attempt is no second letter.
    pub key: &'a str,
    /// Recipient.
    pub to: &'a Address,
    /// Subject and text.
    pub content: Content,
    /// Where one POST unsubscribes the recipient (RFC 8058).
    pub unsubscribe: Option<&'a Url>,
    /// Date of the letter.
    pub date: Timestamp,
}

impl Letter<'_> {
    /// Makes the message: HTML and plain text.
    pub(crate) fn message(&self, from: &Mailbox) -> Result<Message, SendError> {
        let html = self.content.html();
        let mut message = Message::builder()
            .from(from.clone())
            .to(Mailbox::new(None, self.to.inner().clone()))
            .subject(self.content.subject())
            .date(self.date.into())
            .message_id(Some(self.message_id(from.email.domain())))
            .raw_header(header("Auto-Submitted", "auto-generated")?);
        if let Some(url) = self.unsubscribe {
            if url.as_str().len() > MAX_HEADER_URL {
                return Err(SendError::Refused("the address to unsubscribe is too long".to_owned()));
            }
            message = message
                .raw_header(header("List-Unsubscribe", &format!("<{url}>"))?)
                .raw_header(header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")?);
        }
        let parts = MultiPart::alternative_plain_html(plain(&html), html);
        message.multipart(parts).map_err(|error| SendError::Refused(crate::error::line(error)))
    }

    fn message_id(&self, domain: &str) -> String {
        let hash = hex::encode(Sha256::digest(format!("{}\n{}", self.key, self.to.key())));
        format!("<{}@{domain}>", &hash[..40])
    }
}

/// Makes a header of ASCII that needs no encoding: our own words, and addresses as `url` writes them.
fn header(name: &'static str, value: &str) -> Result<HeaderValue, SendError> {
    let name = HeaderName::new_from_ascii_str(name);
    match value.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(HeaderValue::dangerous_new_pre_encoded(name, value.to_owned(), value.to_owned())),
        false => Err(SendError::Refused(format!("{value:?} cannot be in a header"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;

    fn formatted(letter: &Letter) -> String {
        let from = "Quarry <quarry@example.org>".parse().unwrap();
        String::from_utf8(letter.message(&from).unwrap().formatted()).unwrap()
    }

    #[test]
    fn texts_of_strangers_add_no_headers_or_recipients() {
        let to = "ops@example.com".parse().unwrap();
        let hostile = "Prices\r\nBcc: all@example.com\r\n\r\n<b>body</b> =?utf-8?q?x?= ünï".to_owned();
        let unsubscribe = Url::parse("https://quarry.example.org/u?t=a\r\nBcc:b@example.com&x=<y>").unwrap();
        let content =
            Content::new(&hostile).with(Part::Text(hostile.clone())).with(Part::Lines(".\r\n.\r\n".to_owned()));
        let letter =
            Letter { key: &hostile, to: &to, content, unsubscribe: Some(&unsubscribe), date: Timestamp::UNIX_EPOCH };
        let message = formatted(&letter);
        let (head, _) = message.split_once("\r\n\r\n").unwrap();
        let names: Vec<&str> = head
            .split("\r\n")
            .filter(|line| !line.starts_with([' ', '\t']))
            .map(|line| line.split(':').next().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "From",
                "To",
                "Subject",
                "Date",
                "Message-ID",
                "Auto-Submitted",
                "List-Unsubscribe",
                "List-Unsubscribe-Post",
                "MIME-Version",
                "Content-Type"
            ]
        );
        assert!(message.lines().all(|line| line.len() < 998 && line.is_ascii()), "{message}");
        let recipients = letter.message(&"q@example.org".parse().unwrap()).unwrap().envelope().to().len();
        assert_eq!(recipients, 1);
    }

    #[test]
    fn the_same_key_gives_the_same_message_id() {
        let id = |key: &str, to: &str| {
            let letter = Letter {
                key,
                to: &to.parse().unwrap(),
                content: Content::new("s"),
                unsubscribe: None,
                date: Timestamp::UNIX_EPOCH,
            };
            let message = formatted(&letter);
            message.lines().find(|line| line.starts_with("Message-ID")).unwrap().to_owned()
        };
        assert_eq!(id("check 1", "ops@example.com"), id("check 1", "OPS@example.com"));
        assert_ne!(id("check 1", "ops@example.com"), id("check 2", "ops@example.com"));
        assert_ne!(id("check 1", "ops@example.com"), id("check 1", "dev@example.com"));
        assert!(id("check 1", "ops@example.com").ends_with("@example.org>"));
    }
}
