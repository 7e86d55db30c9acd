//! Chat channels of a team.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::read::Field;
use crate::target::target_url;
use crate::words::words;

/// Maximum number of chat channels of a team.
pub const MAX_CHAT_CHANNELS: usize = 10;

words! {
    /// Form of the messages to a chat channel.
    pub enum ChatKind {
        /// `{"text": …}`, which Slack, Mattermost and Rocket.Chat read, and Discord at a URL that ends in `/slack`.
        Slack = "slack",
        /// A JSON object for programs.
        Json = "json",
    }
}

/// Chat channel that is told of the checks of a team's monitors.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatChannel {
    /// Form of the messages.
    pub kind: ChatKind,
    /// URL that messages are sent to, `http` or `https`. Who knows it can write in the channel, so answers show only its
    /// scheme and host, and a mark by which the channel is known again: `https://chat.example/***c5a71e03`.
    #[schema(format = "uri", min_length = 1, max_length = 8192)]
    pub url: String,
}

impl fmt::Debug for ChatChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatChannel").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Reads a list of channels.
pub(crate) fn channels(field: Field<'_>) -> Option<Vec<ChatChannel>> {
    field.list(0..=MAX_CHAT_CHANNELS, |item| {
        item.record(|fields| {
            let kind = fields.need("kind").and_then(Field::word);
            let url = fields.need("url").and_then(|field| field.parse(receiver));
            Some(ChatChannel { kind: kind?, url: url? })
        })
        .flatten()
    })
}

fn receiver(text: &str) -> Result<String, String> {
    let mut url = target_url(text).map_err(|error| error.to_string())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not have a user name or password".to_owned());
    }
    url.set_fragment(None);
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::read;

    fn read(list: &Value) -> Result<Vec<ChatChannel>, String> {
        let body = json!({ "chatChannels": list });
        read::body(body, |fields| fields.need("chatChannels").and_then(channels)).map_err(|invalid| invalid.message)
    }

    fn one(kind: &str, url: &str) -> Value {
        json!([{ "kind": kind, "url": url }])
    }

    #[test]
    fn channels_are_receivers_of_a_kind() {
        let check = |url: &str, want: &str| {
            let read = read(&one("slack", url)).unwrap();
            assert_eq!(read, [ChatChannel { kind: ChatKind::Slack, url: want.to_owned() }], "{url}");
            assert!(!format!("{read:?}").contains("http"), "a URL is never printed");
        };
        check("https://hooks.slack.test/services/T0/B0/x#y", "https://hooks.slack.test/services/T0/B0/x");
        check("HTTP://127.0.0.1:8065/hooks/x?a=b", "http://127.0.0.1:8065/hooks/x?a=b");
        check("https://hooks.slack.test/***c5a71e03", "https://hooks.slack.test/***c5a71e03");
        assert_eq!(read(&one("json", "https://a.test/")).unwrap()[0].kind, ChatKind::Json);
        assert_eq!(read(&json!([])), Ok(Vec::new()));
    }

    #[test]
    fn faults_name_their_fields() {
        let check = |list: &Value, want: &str| {
            let error = read(list).unwrap_err();
            assert!(error.starts_with(want), "{error}");
            assert!(!error.contains("hush"), "{error}");
        };
        check(&one("irc", "https://a.test/hush"), "`chatChannels[0].kind` must be `slack` or `json`");
        check(&one("slack", "ftp://a.test/hush"), "`chatChannels[0].url` must be an absolute http or https URL");
        check(&one("slack", "https://me:hush@a.test/"), "`chatChannels[0].url` must not have a user name or password");
        check(&one("slack", "https://me@a.test/hush"), "`chatChannels[0].url` must not have a user name or password");
        check(&json!([{ "kind": "json" }]), "`chatChannels[0].url` is required");
        check(&json!([{ "kind": "json", "url": "https://a.test/", "name": 1 }]), "Unrecognized key");
        check(
            &json!(vec![json!({ "kind": "json", "url": "https://a.test/" }); 11]),
            "`chatChannels` must have 0 to 10",
        );
        check(&json!({}), "`chatChannels` must be an array");
    }
}
