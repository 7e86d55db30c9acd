//! The format `json`: structured data, by a schema or in a structure of the model's choice.

use std::sync::Arc;

use llm::prompt::EXTRACT;
use llm::schema::{Schema, SchemaError};
use serde_json::{Map, Value};
use wire::JsonFormat;

use crate::cache::Asked;
use crate::{Answered, Asking, PageText, Refusal};

/// Name of the field that the data goes to.
const FIELD: &str = "json";

/// Checks a schema, before a page is fetched for it.
///
/// # Errors
/// [`SchemaError`], with the place in the schema, when no answer can be checked by it.
pub fn check_schema(schema: &Map<String, Value>) -> Result<(), SchemaError> {
    Schema::read(Value::Object(schema.clone())).map(drop)
}

impl Asking<'_> {
    /// Extracts data from a page.
    ///
    /// # Errors
    /// [`Refusal`]; see its variants.
    pub async fn json(&self, page: &Arc<PageText>, format: &JsonFormat) -> Result<Answered<Value>, Refusal> {
        self.extract(page, format.schema.as_ref(), format.prompt.as_deref()).await
    }

    /// Extracts data from a page, by a schema, a prompt, both, or in a structure of the model's choice.
    ///
    /// # Errors
    /// [`Refusal`]; see its variants.
    pub async fn extract(
        &self,
        page: &Arc<PageText>,
        schema: Option<&Map<String, Value>>,
        prompt: Option<&str>,
    ) -> Result<Answered<Value>, Refusal> {
        let schema = match schema.cloned() {
            Some(source) => Some(self.work(move |_| Ok(Schema::read(Value::Object(source)).map(Arc::new))).await??),
            None => None,
        };
        let (schema, instruction) = (schema.as_ref(), prompt.unwrap_or_default());
        let asked = Asked { prompt: &EXTRACT, field: FIELD, instruction, schema: schema.map(Arc::as_ref) };
        let answer = async {
            let extracted = llm::extract::extract(self.model(), &self.job(page, schema, instruction)).await?;
            let warnings = extracted.warnings.iter().map(|warning| format!("`{FIELD}`: {}", plain(warning))).collect();
            Ok(Answered { value: extracted.value, warnings })
        };
        self.cached(page, asked, answer).await
    }
}

/// Returns a sentence as a part of another.
fn plain(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut characters = sentence.chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}
