//! Merging of the settings' layers. The defaults are the schema: they define which keys exist and their types. That, and
//! errors that name a key as the operator wrote it, is the reason for not using a crate such as figment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

use super::lines::{Lines, location};
use super::{Config, ConfigError, DEFAULTS};

/// Prefix of the environment variables.
const PREFIX: &str = "QUARRY__";

/// Section and key.
type Key = (&'static str, &'static str);

/// Keys whose values are secret and never printed.
const SECRETS: [Key; 13] = [
    ("store", "url"),
    ("blobs", "secret_access_key"),
    ("blobs", "session_token"),
    ("fetch", "basic_proxies"),
    ("fetch", "enhanced_proxies"),
    ("admin", "token"),
    ("sessions", "profile_key"),
    ("llm", "key"),
    ("mail", "url"),
    ("search", "brave_key"),
    ("search", "serper_key"),
    ("search", "google_key"),
    ("search", "tavily_key"),
];

/// Older names of keys with the current key. They apply only where the current key is not set.
const RENAMED: [(Key, Key); 3] = [
    (("worker", "pages"), ("queues", "pages")),
    (("worker", "webhooks"), ("queues", "hooks")),
    (("files", "public_url"), ("server", "public_url")),
];

/// Variables of other programs with the same meaning, all texts. They apply only where the key is not set.
const FOREIGN: [(&str, Key); 1] = [("PRODUCT_EXTRACTION_SERVICE_URL", ("extract", "product_service_url"))];

/// Whether an environment variable is a setting.
pub(crate) fn is_setting(name: &str) -> bool {
    name.starts_with(PREFIX) || FOREIGN.iter().any(|(foreign, _)| *foreign == name)
}

pub(super) struct Layers {
    /// The defaults, which no layer changes.
    schema: Table,
    merged: Table,
    /// Origin of each set key, such as its file and line, for messages.
    names: BTreeMap<String, String>,
    /// Keys that were set under their current name.
    set: BTreeSet<String>,
}

impl Layers {
    pub(super) fn defaults() -> Result<Self, ConfigError> {
        let schema: Table = DEFAULTS.parse().map_err(|error| refused("config.default.toml", error))?;
        Ok(Self { merged: schema.clone(), schema, names: BTreeMap::new(), set: BTreeSet::new() })
    }

    pub(super) fn add_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).map_err(|error| refused(&shown, error))?;
        let not_toml = |error: toml::de::Error| refused(location(&shown, &text, &error), error.message());
        let lines = Lines::of(&text).map_err(not_toml)?;
        let sections: Table = text.parse().map_err(not_toml)?;
        for (section, keys) in sections {
            let name = format!("{section} in {shown}{}", lines.at(&section));
            let Some(known) = self.merged.get(&section).and_then(Value::as_table) else {
                return Err(refused(name, "no such section"));
            };
            let Value::Table(keys) = keys else {
                return Err(refused(name, "expected a section"));
            };
            let schema = known.clone();
            for (key, value) in keys {
                let name = format!("{section}.{key} in {shown}{}", lines.at(&format!("{section}.{key}")));
                let Some(default) = self.default_of(&section, &key) else {
                    return Err(refused(name, unknown(schema.keys(), &key, |near| format!("{section}.{near}"))));
                };
                let fits = default.same_type(&value) || (default.is_float() && value.is_integer());
                if !fits {
                    return Err(refused(name, format!("expected {}", expected(default))));
                }
                self.put(&section, &key, value, name);
            }
        }
        Ok(())
    }

    pub(super) fn add_variable(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
        let Some(path) = name.strip_prefix(PREFIX) else {
            self.add_foreign(name, text);
            return Ok(());
        };
        let lower = path.to_lowercase();
        let (section, key) = lower.split_once("__").unwrap_or((&lower, ""));
        let Some(schema) = self.merged.get(section).and_then(Value::as_table) else {
            return Err(refused(name, "no such setting"));
        };
        if key.contains("__") {
            return self.add_nested(name, text);
        }
        let Some(default) = self.default_of(section, key) else {
            let shown = |near: &str| format!("{PREFIX}{}__{}", section.to_uppercase(), near.to_uppercase());
            return Err(refused(name, unknown(schema.keys(), key, shown)));
        };
        let value = from_text(default, text).ok_or_else(|| refused(name, format!("expected {}", expected(default))))?;
        self.put(section, key, value, name.to_owned());
        Ok(())
    }

    /// Adds a variable of a key inside a table, such as `QUARRY__LLM__LIMITS__CALL__TOKENS`. What other layers have set
    /// beside it stays.
    fn add_nested(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
        let path = name.trim_start_matches(PREFIX).to_lowercase();
        let keys: Vec<&str> = path.split("__").collect();
        let [tables @ .., key] = keys.as_slice() else { return Err(refused(name, "no such setting")) };
        let schema = self.schema_of(tables).ok_or_else(|| refused(name, "no such setting"))?;
        let Some(default) = schema.get(*key) else {
            let shown = |near: &str| format!("{PREFIX}{}__{near}", tables.join("__")).to_uppercase();
            return Err(refused(name, unknown(schema.keys(), key, shown)));
        };
        let value = from_text(default, text).ok_or_else(|| refused(name, format!("expected {}", expected(default))))?;
        let mut place = &mut self.merged;
        for table in tables {
            let entry = place.entry(*table).or_insert_with(|| Value::Table(Table::new()));
            place = entry.as_table_mut().ok_or_else(|| refused(name, "no such setting"))?;
        }
        place.insert((*key).to_owned(), value);
        self.names.insert(keys.join("."), name.to_owned());
        Ok(())
    }

    /// Returns the keys of a table with their defaults. A table that is empty by default has the keys of its section.
    fn schema_of(&self, tables: &[&str]) -> Option<&Table> {
        let section = self.schema.get(*tables.first()?)?.as_table()?;
        let found = tables[1..].iter().try_fold(section, |table, name| table.get(*name)?.as_table())?;
        Some(if found.is_empty() { section } else { found })
    }

    /// Adds the text of a variable in [`FOREIGN`]; the rest of the environment belongs to other programs.
    fn add_foreign(&mut self, name: &str, text: &str) {
        let known = FOREIGN.into_iter().find(|(foreign, _)| *foreign == name);
        if let Some((_, (section, key))) = known.filter(|(_, (section, key))| !self.is_set(section, key)) {
            self.insert(section, key, Value::from(text), name.to_owned());
        }
    }

    /// Returns the settings as TOML, with `***` for every secret that is set.
    pub(super) fn redacted(&self) -> String {
        let mut shown = self.merged.clone();
        for (section, key) in SECRETS {
            let value = shown.get_mut(section).and_then(Value::as_table_mut).and_then(|keys| keys.get_mut(key));
            match value {
                Some(Value::String(text)) if !text.is_empty() => "***".clone_into(text),
                Some(Value::Array(items)) if !items.is_empty() => *items = vec![Value::from("***")],
                _ => {}
            }
        }
        if let Some(Value::Table(models)) = shown.get_mut("llm") {
            hide_keys_of_models(models);
        }
        shown.to_string()
    }

    pub(super) fn decode(self) -> Result<Config, ConfigError> {
        serde_path_to_error::deserialize(Value::Table(self.merged)).map_err(|error| {
            let path = error.path().to_string();
            let key = path.split('[').next().unwrap_or(&path).trim_end_matches('.');
            let name = self.names.get(key).cloned().unwrap_or_else(|| key.to_owned());
            refused(name, error.inner().message())
        })
    }

    /// Returns the current value of a key, whose type the new value must have.
    fn default_of(&self, section: &str, key: &str) -> Option<&Value> {
        let (section, key) = renamed(section, key).unwrap_or((section, key));
        self.merged.get(section)?.as_table()?.get(key)
    }

    fn put(&mut self, section: &str, key: &str, value: Value, name: String) {
        let (section, key) = match renamed(section, key) {
            Some((section, key)) if self.is_set(section, key) => return,
            Some(current) => current,
            None => {
                self.set.insert(format!("{section}.{key}"));
                (section, key)
            }
        };
        self.insert(section, key, value, name);
    }

    /// Whether a key was set under its current name.
    fn is_set(&self, section: &str, key: &str) -> bool {
        self.set.contains(&format!("{section}.{key}"))
    }

    fn insert(&mut self, section: &str, key: &str, value: Value, name: String) {
        if let Some(keys) = self.merged.get_mut(section).and_then(Value::as_table_mut) {
            keys.insert(key.to_owned(), value);
            self.names.insert(format!("{section}.{key}"), name);
        }
    }
}

/// Hides the keys of single roles, and queries of URLs, which may hold keys.
fn hide_keys_of_models(models: &mut Table) {
    for (name, value) in models.iter_mut() {
        match value {
            Value::Table(inner) => hide_keys_of_models(inner),
            Value::String(text) if name == "key" && !text.is_empty() => "***".clone_into(text),
            Value::String(text) if name == "url" && text.contains('?') => {
                text.truncate(text.find('?').unwrap_or(0));
                text.push_str("?***");
            }
            _ => {}
        }
    }
}

/// Returns the current key of an older name.
fn renamed(section: &str, key: &str) -> Option<(&'static str, &'static str)> {
    RENAMED.into_iter().find(|(older, _)| *older == (section, key)).map(|(_, current)| current)
}

fn refused(key: impl Into<String>, message: impl std::fmt::Display) -> ConfigError {
    ConfigError { key: key.into(), message: message.to_string().trim().replace('\n', ": ") }
}

/// Parses a value of the environment as the type of its default.
fn from_text(default: &Value, text: &str) -> Option<Value> {
    Some(match default {
        Value::String(_) => Value::from(text),
        Value::Integer(_) => Value::from(text.trim().parse::<i64>().ok()?),
        Value::Boolean(_) => Value::from(text.trim().parse::<bool>().ok()?),
        Value::Array(_) => {
            Value::Array(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect())
        }
        Value::Float(_) => Value::from(text.trim().parse::<f64>().ok()?),
        Value::Datetime(_) | Value::Table(_) => return None,
    })
}

fn expected(default: &Value) -> &'static str {
    match default {
        Value::Integer(_) => "a whole number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) => "a list",
        Value::Float(_) => "a number",
        Value::Table(_) => "a table in a settings file, or a variable for each of its keys",
        Value::String(_) | Value::Datetime(_) => "a text",
    }
}

fn unknown<'a>(known: impl Iterator<Item = &'a String>, key: &str, shown: impl Fn(&str) -> String) -> String {
    let near = known.filter(|name| is_near(name, key)).min_by_key(|name| name.len().abs_diff(key.len()));
    match near {
        Some(near) => format!("no such setting, did you mean {}?", shown(near)),
        None => "no such setting".to_owned(),
    }
}

/// Returns whether two words differ by at most two letters between a common beginning and end: likely a typing mistake.
fn is_near(name: &str, key: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (name.chars().collect(), key.chars().collect());
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    a.len().max(b.len()).saturating_sub((start + end).min(a.len().min(b.len()))) <= 2
}
