//! Closed sets of words: one table makes the enum, its JSON strings, its schema and the text of a refusal.

/// An enum that travels as one of a few strings.
pub(crate) trait Word: Sized + Copy + 'static {
    /// Every spelling with its value, in the order of the declaration.
    const WORDS: &'static [(&'static str, Self)];

    /// The value of a spelling.
    fn parse(text: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
    }

    /// "`a`, `b` or `c`", for error messages.
    fn choices() -> String {
        let words: Vec<String> = Self::WORDS.iter().map(|(word, _)| format!("`{word}`")).collect();
        match words.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [head @ .., last] => format!("{} or {last}", head.join(", ")),
        }
    }
}

/// Declares such an enum: `Variant = "word",` per line.
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
            /// All of them, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word on the wire.
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
