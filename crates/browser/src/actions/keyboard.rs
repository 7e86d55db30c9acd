//! Actions `write` and `press`: key strokes, one after the other.

use serde_json::json;
use tokio::time::Instant;

use super::actor::{Actor, Failure};
use super::click::send;
use super::keys::{self, Key, Stroke};
use crate::BrowserError;

/// Script that tells whether an element has the focus; runs after js/find.js.
const FOCUSED: &str = include_str!("../js/focused.js");
/// Number of characters that are typed key by key; the rest of a longer text is inserted at once.
const MAX_TYPED: usize = 2000;
/// Number of characters that are inserted at once.
const CHUNK: usize = 5000;

pub(super) async fn write(actor: &Actor<'_>, text: &str, warnings: &mut Vec<String>) -> Result<(), Failure> {
    if !actor.run(FOCUSED, &[], actor.until).await?.as_bool().unwrap_or_default() {
        warnings.push("no element had the focus when text was written: click a field first".to_owned());
    }
    for c in text.chars().take(MAX_TYPED) {
        if Instant::now() >= actor.until {
            return Err(BrowserError::Timeout.into());
        }
        match keys::of_char(c) {
            Some(key) => stroke(actor, &key, 0).await?,
            None => insert(actor, &c.to_string()).await?,
        }
    }
    let rest: Vec<char> = text.chars().skip(MAX_TYPED).collect();
    for chunk in rest.chunks(CHUNK) {
        insert(actor, &chunk.iter().collect::<String>()).await?;
    }
    Ok(())
}

async fn insert(actor: &Actor<'_>, text: &str) -> Result<(), Failure> {
    send(actor, "Input.insertText", json!({ "text": text })).await
}

pub(super) async fn press(actor: &Actor<'_>, name: &str) -> Result<(), Failure> {
    let unknown = || Failure::Page {
        selector: None,
        reason: format!("unknown key `{name}`: use a name of KeyboardEvent.key, such as `Enter` or `Control+A`"),
    };
    let Stroke { modifiers, key } = keys::parse(name).ok_or_else(unknown)?;
    let mut held = 0;
    for modifier in &modifiers {
        held |= modifier.bit();
        down(actor, modifier, held).await?;
    }
    stroke(actor, &key, held).await?;
    for modifier in modifiers.iter().rev() {
        held &= !modifier.bit();
        up(actor, modifier, held).await?;
    }
    Ok(())
}

async fn stroke(actor: &Actor<'_>, key: &Key, held: u8) -> Result<(), Failure> {
    down(actor, key, held).await?;
    up(actor, key, held).await
}

async fn down(actor: &Actor<'_>, key: &Key, held: u8) -> Result<(), Failure> {
    send(actor, "Input.dispatchKeyEvent", key.event(true, held)).await
}

async fn up(actor: &Actor<'_>, key: &Key, held: u8) -> Result<(), Failure> {
    send(actor, "Input.dispatchKeyEvent", key.event(false, held)).await
}
