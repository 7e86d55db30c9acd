//! `redactPII`: which personal data leaves the markdown, and what stands in its place (docs/CONTRACT.md, "Options").

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::{Word, words};

/// Redaction of personal data. `true` on the wire is this with its defaults, `false` is no redaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RedactPii {
    /// How hard to look.
    pub mode: RedactMode,
    /// What to look for. All kinds when not given.
    #[schema(min_items = 1, max_items = 6)]
    pub entities: Vec<PiiEntity>,
    /// What to put in its place.
    pub replace_style: ReplaceStyle,
}

impl Default for RedactPii {
    fn default() -> Self {
        let entities = PiiEntity::WORDS.iter().map(|(_, entity)| *entity).collect();
        Self { mode: RedactMode::default(), entities, replace_style: ReplaceStyle::default() }
    }
}

/// How `redactPII` may be written.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum RedactPiiSwitch {
    /// On with defaults, or off.
    Switch(bool),
    /// On, with settings.
    Settings(RedactPii),
}

words! {
    /// How hard to look for personal data.
    #[derive(Default)]
    pub enum RedactMode {
        /// Few false alarms.
        #[default]
        Accurate = "accurate",
        /// Few misses.
        Aggressive = "aggressive",
        /// Patterns only.
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
        /// Telephone numbers.
        Phone = "PHONE",
        /// Postal addresses and places.
        Location = "LOCATION",
        /// Account and card numbers.
        Financial = "FINANCIAL",
        /// Passwords, keys, tokens.
        Secret = "SECRET",
    }
}

words! {
    /// What stands in place of personal data.
    #[derive(Default)]
    pub enum ReplaceStyle {
        /// The kind in angle brackets, as `<EMAIL>`.
        #[default]
        Tag = "tag",
        /// One `*` per character.
        Mask = "mask",
        /// Nothing.
        Remove = "remove",
    }
}

impl RedactPii {
    /// `None` when it is off, or was refused.
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
