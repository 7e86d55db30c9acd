//! Enums of fixed strings. One table defines the enum, its JSON strings, its schema and the choices in error messages.

use std::fmt::Display;

/// Enum that is one of a few strings on the wire.
pub(crate) trait Word: Sized + Copy + 'static {
    /// Every string with its value, in declaration order.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the value of a string.
    fn parse(text: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
    }

    /// Returns the choices for error messages: "`a`, `b` or `c`".
    fn choices() -> String {
        choices(Self::WORDS.iter().map(|(word, _)| word))
    }
}

/// Joins choices for error messages: "`a`, `b` or `c`".
pub(crate) fn choices(words: impl Iterator<Item = impl Display>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

/// Declares an enum of strings, one `Variant = "word",` per line.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$note:meta])* $variant:ident = $word:tt,)+ }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize, utoipa::ToSchema,
        )]
        pub enum $name {
            $($(#[$note])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the string on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl crate::words::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::Word;
    use crate::parser::PdfMode;

    #[test]
    fn one_table_gives_strings_json_and_choices() {
        assert_eq!(PdfMode::parse("ocr"), Some(PdfMode::Ocr));
        assert_eq!(PdfMode::parse("OCR"), None);
        assert_eq!(PdfMode::choices(), "`fast`, `auto` or `ocr`");
        assert_eq!(serde_json::to_value(PdfMode::Ocr).unwrap(), PdfMode::Ocr.as_str());
    }
}
