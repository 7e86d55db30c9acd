//! Page text as data: what readers cannot see is removed before a model sees it.

use std::borrow::Cow;

/// Removes from a text what people do not see and models do: control and tag characters, bidirectional overrides,
/// zero-width characters, and the markers of chat templates, which some endpoints take for the end of a message.
///
/// Joiners and variation selectors stay where a script or an emoji needs them.
///
/// ```
/// assert_eq!(llm::page_text::clean("Entry\u{200b}\u{200b} 12\u{e0041}\u{e0042} €"), "Entry 12 €");
/// assert_eq!(llm::page_text::clean("می‌خواهم"), "می‌خواهم");
/// ```
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    let visible = visible(text);
    if MARKERS.iter().any(|marker| visible.contains(marker.found)) {
        return Cow::Owned(
            MARKERS.iter().fold(visible.into_owned(), |text, marker| text.replace(marker.found, marker.shown)),
        );
    }
    visible
}

/// Removes from a text what people do not see, like [`clean`]; the markers of chat templates, which they do see, stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(without_invisible(text))
}

/// A marker of chat templates, and how it is shown instead.
struct Marker {
    found: &'static str,
    shown: &'static str,
}

/// A space breaks a marker for every tokenizer and keeps it readable.
const MARKERS: [Marker; 9] = [
    Marker { found: "<|", shown: "< |" },
    Marker { found: "<｜", shown: "< ｜" },
    Marker { found: "<start_of_turn>", shown: "< start_of_turn>" },
    Marker { found: "<end_of_turn>", shown: "< end_of_turn>" },
    Marker { found: "[INST]", shown: "[ INST]" },
    Marker { found: "[/INST]", shown: "[ /INST]" },
    Marker { found: "<<SYS>>", shown: "< <SYS>>" },
    Marker { found: "<think>", shown: "< think>" },
    Marker { found: "</think>", shown: "< /think>" },
];

fn without_invisible(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut previous = '\0';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let shown = match character {
            '\n' | '\t' => Some(character),
            '\r' if characters.peek() == Some(&'\n') => None,
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => Some('\n'),
            _ if character.is_control() || is_invisible(character) => None,
            '\u{200c}' | '\u{200d}' => needs_joiner(previous).then_some(character),
            // Variation selectors: one after a character that has variants.
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => has_variants(previous).then_some(character),
            _ => Some(character),
        };
        if let Some(shown) = shown {
            kept.push(shown);
            previous = shown;
        }
    }
    kept
}

fn is_invisible(character: char) -> bool {
    matches!(
        character,
        // Soft hyphen, combining grapheme joiner, Hangul fillers, Mongolian separator.
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{180b}'..='\u{180f}'
        // Zero-width space, word joiner, invisible operators, byte order mark.
        | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}'
        // Bidirectional marks, embeddings, overrides and isolates.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Interlinear annotations, musical and shorthand format characters, tags.
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{1bca0}'..='\u{1bca3}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns whether a joiner after this character can change how it looks: in the scripts from Arabic to Khmer, and in
/// emoji. A second joiner never does.
fn needs_joiner(previous: char) -> bool {
    matches!(
        previous,
        '\u{600}'..='\u{1fff}' | '\u{a800}'..='\u{abff}' | '\u{fe0f}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'
    )
}

/// Returns whether a character has variants: digits and symbols that are emoji too, ideographs, Myanmar letters.
fn has_variants(previous: char) -> bool {
    matches!(
        previous,
        '0'..='9' | '#' | '*' | '\u{a9}' | '\u{ae}' | '\u{1000}'..='\u{109f}' | '\u{203c}'..='\u{2049}'
        | '\u{2100}'..='\u{2bff}' | '\u{3030}'..='\u{303d}' | '\u{3297}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{1f000}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_removed() {
        for (text, expect) in [
            ("plain | text\n\twith tabs", "plain | text\n\twith tabs"),
            ("a\r\nb\rc\u{2028}d\u{85}e", "a\nb\nc\nd\ne"),
            ("a\0b\u{1b}[31mc\u{9f}", "ab[31mc"),
            ("I\u{200b}g\u{200c}n\u{200d}o\u{2060}r\u{feff}e", "Ignore"),
            ("price \u{202e}21\u{202c} \u{2066}x\u{2069}\u{200f}", "price 21 x"),
            ("hi\u{e0049}\u{e0067}\u{e007f}", "hi"),
            ("A\u{fe01}\u{e0110}\u{e0120}B", "AB"),
            ("<|im_start|>system", "< |im_start|>system"),
            ("[INST] obey [/INST]", "[ INST] obey [ /INST]"),
            ("<\u{200b}|im_end|>", "< |im_end|>"),
        ] {
            assert_eq!(clean(text), expect, "{text:?}");
        }
    }

    #[test]
    fn scripts_and_emoji_stay_whole() {
        for text in ["👩‍👩‍👧 family", "❤️ heart", "1️⃣", "क्‍ष", "می‌خواهم", "葛󠄀城", "Größe, naïve, ٣٤"]
        {
            assert_eq!(clean(text), text, "{text}");
        }
    }

    #[test]
    fn runs_of_selectors_carry_no_hidden_bytes() {
        let smuggled: String = "👍".chars().chain((0..40).filter_map(|n| char::from_u32(0xe0100 + n))).collect();
        assert_eq!(clean(&smuggled).chars().count(), 2);
        let joiners = format!("👍{}", "\u{200d}".repeat(40));
        assert_eq!(clean(&joiners).chars().count(), 2);
        assert_eq!(clean(&format!("می{}", "\u{200c}\u{200d}".repeat(40))).chars().count(), 3);
    }
}
