//! Chat channels of teams: their URLs are secrets, which answers show masked.

use base::{Secret, new_id};
use store::chats::{self as rows, ChatChannel as Row};
use store::{Conn, StoreError};
use url::Url;
use wire::{ChatChannel, ChatKind, Invalid};

/// Beginning of the path of a masked URL.
const MASK: &str = "/***";
/// Number of characters of a channel's id that tell it from others at the same host.
const MARK_CHARS: usize = 8;

/// Reads the channels that a team will have, and locks those that it has. A masked URL, or one that the team has already,
/// keeps its channel.
///
/// # Errors
/// Those of the database, outside; inside, [`Invalid`] for the mask of no channel, or a URL that is there twice.
pub(crate) async fn changed(
    conn: &mut Conn,
    team: &str,
    given: &[ChatChannel],
) -> Result<Result<Vec<Row>, Invalid>, StoreError> {
    Ok(revealed(given, &rows::lock(conn, team).await?))
}

/// Puts URLs in the places of their masks, those of the channels before.
///
/// # Errors
/// [`Invalid`] for the mask of no channel, or a URL that is there twice.
pub(crate) fn revealed(given: &[ChatChannel], before: &[Row]) -> Result<Vec<Row>, Invalid> {
    let mut all: Vec<Row> = Vec::new();
    for (index, ChatChannel { kind, url }) in given.iter().enumerate() {
        let refuse = |reason: &str| Err(Invalid::at(format!("chatChannels[{index}].url"), reason));
        let known = before.iter().find(|known| known.url.expose() == url || masked(known) == *url);
        let (id, url) = match known {
            Some(known) => (known.id.clone(), known.url.clone()),
            None if is_masked(url) => return refuse("is the mask of no channel of the team; send the whole URL"),
            None => (new_id().to_string(), Secret::new(url.as_str())),
        };
        if all.iter().any(|other| other.url == url) {
            return refuse("is the URL of an earlier channel");
        }
        all.push(Row { id, kind: kind.as_str().to_owned(), url });
    }
    Ok(all)
}

/// Returns the channels of a team as answers show them.
///
/// # Errors
/// Those of the database.
pub(crate) async fn view(conn: &mut Conn, team: &str) -> Result<Vec<ChatChannel>, StoreError> {
    let shown = |row: &Row| {
        let kind = ChatKind::ALL.iter().copied().find(|kind| kind.as_str() == row.kind)?;
        Some(ChatChannel { kind, url: masked(row) })
    };
    Ok(rows::of_team(conn, team).await?.iter().filter_map(shown).collect())
}

/// Returns a URL without its path, which is the secret. The mark is a part of the channel's id, so it says nothing about
/// the URL.
fn masked(row: &Row) -> String {
    let origin = Url::parse(row.url.expose()).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let mark = row.id.len().saturating_sub(MARK_CHARS);
    format!("{origin}{MASK}{}", row.id.get(mark..).unwrap_or_default())
}

fn is_masked(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.path().starts_with(MASK))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(url: &str) -> Row {
        Row { id: new_id().to_string(), kind: "slack".to_owned(), url: Secret::new(url) }
    }

    fn given(url: impl Into<String>) -> ChatChannel {
        ChatChannel { kind: ChatKind::Json, url: url.into() }
    }

    #[test]
    fn a_mask_shows_the_host_alone_and_keeps_its_channel() {
        let before = [row("https://chat.test:8443/hooks/hush1?key=hush2"), row("https://chat.test:8443/hooks/hush3")];
        let masks: Vec<String> = before.iter().map(masked).collect();
        assert!(masks.iter().all(|mask| mask.starts_with("https://chat.test:8443/***") && !mask.contains("hush")));
        assert_ne!(masks[0], masks[1], "channels of one host are told apart");
        // The first is removed, the second stays under another kind, a third is new.
        let all = revealed(&[given(masks[1].as_str()), given("https://other.test/hush4")], &before).unwrap();
        assert_eq!(
            (&all[0].id, all[0].url.expose(), all[0].kind.as_str()),
            (&before[1].id, before[1].url.expose(), "json")
        );
        assert_eq!(all[1].url.expose(), "https://other.test/hush4");
        let whole = revealed(&[given(before[0].url.expose())], &before).unwrap();
        assert_eq!(whole[0].id, before[0].id, "a URL that is known keeps its channel too");
    }

    #[test]
    fn unknown_masks_and_repeats_are_refused() {
        let before = [row("https://chat.test/hush")];
        let fault = |given: &[ChatChannel]| revealed(given, &before).unwrap_err().message;
        let unknown = fault(&[given("https://a.test/"), given("https://chat.test/***00000000")]);
        assert_eq!(unknown, "`chatChannels[1].url` is the mask of no channel of the team; send the whole URL");
        let twice = fault(&[given(masked(&before[0])), given("https://chat.test/hush")]);
        assert_eq!(twice, "`chatChannels[1].url` is the URL of an earlier channel");
    }
}
