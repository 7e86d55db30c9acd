//! The key of a cached answer.

use sha2::{Digest, Sha256};

use crate::ask::Role;
use crate::model::Model;
use crate::prompt::Prompt;
use crate::schema::Schema;

/// What an answer depends on.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Role, which decides the model.
    pub role: Role,
    /// System text with its version.
    pub prompt: &'static Prompt,
    /// Instruction of the caller.
    pub instruction: &'a str,
    /// Schema of the answer, if one is wanted.
    pub schema: Option<&'a Schema>,
    /// Hash of everything of the page that the model is shown.
    pub page_hash: &'a [u8],
}

/// Returns the key of the answer to a question: equal for the same model, prompt version, instruction, schema and page.
/// All calls have the temperature 0, so that an answer may be used again.
#[must_use]
pub fn key(model: &Model, question: &Question<'_>) -> String {
    let schema = question.schema.map(Schema::shown).unwrap_or_default();
    let server = model.server(question.role);
    let parts = [server.as_str(), model.name(question.role), question.prompt.id, question.instruction, schema];
    let mut hash = Sha256::new();
    for part in parts.map(str::as_bytes).into_iter().chain([question.page_hash]) {
        // Lengths keep `ab`, `c` apart from `a`, `bc`.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::prompt;
    use crate::settings::Settings;

    #[test]
    fn everything_that_decides_an_answer_is_in_its_key() {
        let model = |url: &str, name: &str| {
            let settings = Settings { url: Some(url.parse().unwrap()), model: name.to_owned(), ..Settings::default() };
            Model::new(&settings, Arc::new(base::SystemClock)).unwrap().unwrap()
        };
        let one = model("http://127.0.0.1:1/v1", "small");
        let schema = Schema::read(json!({ "type": "object" })).unwrap();
        let question = Question {
            role: Role::Extract,
            prompt: &prompt::EXTRACT,
            instruction: "price",
            schema: Some(&schema),
            page_hash: b"1",
        };
        let keys = HashSet::from([
            key(&one, &question),
            key(&model("http://127.0.0.1:1/v1", "large"), &question),
            key(&model("http://127.0.0.1:2/v1", "small"), &question),
            key(&one, &Question { prompt: &prompt::SETTLE, ..question }),
            key(&one, &Question { instruction: "prices", ..question }),
            key(&one, &Question { schema: None, ..question }),
            key(&one, &Question { page_hash: b"2", ..question }),
        ]);
        assert_eq!(keys.len(), 7);
        assert_eq!(key(&one, &question), key(&one.clone(), &question));
    }
}
