//! The check of a whole answer against schema and page.

use base::Stop;

use super::chunk::Said;
use super::{ExtractError, Page, go_on};
use crate::pages::{self, Evidence, Links, Part};
use crate::schema::Schema;

/// Returns the answer without foreign URLs and duplicates, valid by the schema, with a warning for what is not on the
/// page.
pub(super) fn checked(page: Page<'_>, schema: Option<&Schema>, said: Said, stop: &Stop) -> Result<Said, ExtractError> {
    let Said { mut value, mut warnings } = said;
    let links = Links::of(page.links.iter().map(String::as_str));
    let dropped = pages::drop_unknown_urls(&mut value, &links, schema);
    if dropped > 0 {
        warnings.push(format!("Removed {dropped} URLs that are no links of the page."));
    }
    go_on(stop)?;
    if let Some(schema) = schema {
        value = schema.accept(value).map_err(ExtractError::Invalid)?.value;
    }
    go_on(stop)?;
    // Duplicates within one answer, as between the answers of chunks.
    let value = pages::merge(&[Part { answer: &value, text: "" }]).value;
    go_on(stop)?;
    let missing = Evidence::of(&[page.markdown, page.facts, page.structured]).missing(&value, schema);
    if !missing.is_empty() {
        warnings.push(format!("Values that are not on the page: {}.", missing.join(", ")));
    }
    Ok(Said { value, warnings })
}
