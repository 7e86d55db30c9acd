//! `redactPII`: redaction of personal data in the markdown (docs/CONTRACT.md, "Options").

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::{Word, words};

/// Redaction of personal data. In JSON, `true` means these defaults and `false` means no redaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RedactPii {
    /// Sensitivity of the detection.
    pub mode: RedactMode,
    /// Kinds of personal data to redact; all if absent.
    #[schema(min_items = 1, max_items = 6)]
    pub entities: Vec<PiiEntity>,
    /// Replacement for redacted text.
    pub replace_style: ReplaceStyle,
}

impl Default for RedactPii {
    fn default() -> Self {
        let entities = PiiEntity::WORDS.iter().map(|(_, entity)| *entity).collect();
        Self { mode: RedactMode::default(), entities, replace_style: ReplaceStyle::default() }
    }
}

/// Value of `redactPII`: a boolean or an object.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum RedactPiiSwitch {
    /// On with default settings, or off.
    Switch(bool),
    /// On, with settings.
    Settings(RedactPii),
}

words! {
    /// Sensitivity of the detection of personal data.
    #[derive(Default)]
    pub enum RedactMode {
        /// Few false positives.
        #[default]
        Accurate = "accurate",
        /// Few false negatives.
        Aggressive = "aggressive",
        /// Pattern matching only.
        Fast = "fast",
    }
}

words! {
    /// Kinds of personal data.
    pub enum PiiEntity {
        /// Names of people.
        Person = "PERSON",
        /// E-mail addresses.
        Email = "EMAIL",
        /// Phone numbers.
        Phone = "PHONE",
        /// Postal addresses and places.
        Location = "LOCATION",
        /// Account and card numbers.
        Financial = "FINANCIAL",
        /// Passwords, keys and tokens.
        Secret = "SECRET",
    }
}

words! {
    /// Replacement for personal data.
    #[derive(Default)]
    pub enum ReplaceStyle {
        /// Kind in angle brackets, such as `<EMAIL>`.
        #[default]
        Tag = "tag",
        /// One `*` per character.
        Mask = "mask",
        /// Empty text.
        Remove = "remove",
    }
}

impl RedactPii {
    /// Reads `redactPII`. Returns `None` if it is off or was refused.
    pub(crate) fn read(field: Field<'_>) -> Option<Self> {
        match field.value {
            Value::Bool(on) => on.then(Self::default),
            Value::Object(_) => field.record(Self::settings),
            _ => field.refuse("must be true, false or an object"),
        }
    }

    fn settings(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let mut entities: Vec<PiiEntity> = fields
            .take("entities")
            .and_then(|field| field.list(1..=PiiEntity::WORDS.len(), Field::word))
            .unwrap_or(default.entities);
        entities.sort_unstable();
        entities.dedup();
        Self {
            mode: fields.take("mode").and_then(Field::word).unwrap_or_default(),
            entities,
            replace_style: fields.take("replaceStyle").and_then(Field::word).unwrap_or_default(),
        }
    }
}
