//! Texts of strangers in a chat message: names, titles and URLs that can add no markup, mention or link of their own.

use std::fmt::Write as _;

use url::{Position, Url};

/// Blank of no width. After a character that begins a mention, a channel name or an emoji, or joins a link, it leaves the
/// text as it looks, and plain.
const GAP: char = '\u{200b}';
/// Distance from a punctuation character of ASCII to its fullwidth twin, which no chat program takes for markup.
const TO_FULLWIDTH: u32 = 0xfee0;

/// Writes a text in one line, of up to `most` UTF-16 units as it is sent; a longer one is cut.
pub(super) fn plain(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let blank = |c: char| if c.is_whitespace() || c.is_control() { ' ' } else { c };
    let visible = text.chars().filter(|c| !is_invisible(*c)).map(blank);
    let (mut units, mut coded) = (0, String::new());
    for c in visible {
        if c == ' ' && (shown.is_empty() || shown.ends_with(' ')) {
            continue;
        }
        coded.clear();
        add(&mut coded, c);
        units += coded.encode_utf16().count();
        if units > most {
            shown.push('…');
            break;
        }
        shown.push_str(&coded);
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// Adds a character in its plain form.
fn add(shown: &mut String, c: char) {
    match c {
        '&' => shown.push_str("&amp;"),
        '<' => shown.push_str("&lt;"),
        '>' => shown.push_str("&gt;"),
        '@' | '#' | ':' | '.' => shown.extend([c, GAP]),
        '*' | '_' | '~' | '`' | '|' | '[' | ']' | '\\' => {
            shown.extend(char::from_u32(u32::from(c) + TO_FULLWIDTH));
        }
        c => shown.push(c),
    }
}

/// Whether a character hides or turns what stands around it.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Writes the URL of a page, of up to `most` characters, so that chat programs make it a link; a longer one is cut, and
/// none.
pub(super) fn link(text: &str, most: usize) -> String {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(url) = url else { return plain(text, most) };
    // Without user name and password.
    let mut link = url.origin().ascii_serialization();
    for c in url[Position::BeforePath..].chars() {
        match c {
            '&' => link.push_str("&amp;"),
            '*' | '~' | '`' | '|' | '[' | ']' | '(' | ')' | '<' | '>' | '@' | '\\' | '\'' => {
                // A `String` takes every text.
                let _ = write!(link, "%{:02X}", u32::from(c));
            }
            c => link.push(c),
        }
    }
    if link.len() <= most { link } else { plain(url.as_str(), most) }
}
