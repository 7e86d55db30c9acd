//! Wire types of a resource, for docs/ADDING.md: the notes of a team. Only tests compile them.

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::admin::PageQuery;
use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::read::{self, Field};
use crate::stamp;

/// Note of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NoteView {
    /// Id of the note.
    #[schema(value_type = String, format = "uuid")]
    id: Uuid,
    /// Text of the note.
    text: String,
    /// Label; null if it has none.
    label: Option<String>,
    /// Time of creation, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    created_at: Timestamp,
}

/// Body of `POST /v2/notes`.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
struct CreateNote {
    /// Text of the note.
    #[schema(min_length = 1, max_length = 1000)]
    text: String,
    /// Label, to find the note by.
    #[schema(min_length = 1, max_length = 50)]
    label: Option<String>,
}

/// Body of `PATCH /v2/notes/{id}`. Fields that are absent stay unchanged.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
struct UpdateNote {
    /// New text.
    #[schema(min_length = 1, max_length = 1000)]
    text: Option<String>,
    /// New label; null removes it.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 50)]
    label: Option<Option<String>>,
}

/// Query parameters of `GET /v2/notes`.
#[derive(Debug, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
struct NotesQuery {
    /// Only notes with this label
    label: Option<String>,
    /// `next` of the previous page
    #[param(value_type = Option<String>, format = "uuid")]
    after: Option<Uuid>,
    /// 1 to 1000 entries, 100 by default
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: u32,
}

impl QueryParams for NotesQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let label = fields.take("label").and_then(label);
            let PageQuery { after, limit } = PageQuery::read(fields);
            Some(Self { label, after, limit })
        })
    }
}

fn decode_create_note(body: Value) -> Result<CreateNote, Invalid> {
    read::body(body, |fields| {
        let text = fields.need("text").and_then(text);
        let label = fields.take("label").and_then(label);
        Some(CreateNote { text: text?, label })
    })
}

fn decode_update_note(body: Value) -> Result<UpdateNote, Invalid> {
    read::body(body, |fields| {
        let text = fields.take("text").and_then(text);
        let label = fields.change("label", label);
        Some(UpdateNote { text, label })
    })
}

fn text(field: Field<'_>) -> Option<String> {
    field.text(1..=1000)
}

fn label(field: Field<'_>) -> Option<String> {
    field.name(1..=50)
}

mod tests {
    use serde_json::json;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn bodies_are_decoded_with_all_their_faults() {
        let note = decode_create_note(json!({ "text": "granite", "label": null }));
        assert_eq!(note, Ok(CreateNote { text: "granite".to_owned(), label: None }));
        let faults = decode_create_note(json!({ "label": "", "colour": 1 })).unwrap_err();
        let paths: Vec<&str> = faults.fields.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths, ["text", "label", "colour"]);
    }

    #[test]
    fn an_absent_field_stays_and_a_null_removes() {
        let check = |body: Value, label: Option<Option<&str>>| {
            let label = label.map(|label| label.map(str::to_owned));
            assert_eq!(decode_update_note(body), Ok(UpdateNote { text: None, label }));
        };
        check(json!({}), None);
        check(json!({ "label": null }), Some(None));
        check(json!({ "label": "stone" }), Some(Some("stone")));
        assert_eq!(decode_update_note(json!({ "label": 5 })).unwrap_err().message, "`label` must be a string, got 5");
    }

    #[test]
    fn query_parameters_are_typed() {
        let query = NotesQuery::decode("label=stone&limit=5").unwrap();
        assert_eq!(query, NotesQuery { label: Some("stone".to_owned()), after: None, limit: 5 });
        assert_eq!(NotesQuery::decode("limit=0").unwrap_err().message, "`limit` must be a whole number from 1 to 1000");
    }

    #[test]
    fn the_openapi_document_describes_them() {
        let view =
            NoteView { id: Uuid::nil(), text: "granite".to_owned(), label: None, created_at: Timestamp::UNIX_EPOCH };
        let json = json!({
            "id": Uuid::nil(), "text": "granite", "label": null, "createdAt": "1970-01-01T00:00:00.000Z",
        });
        assert_eq!(serde_json::to_value(view).unwrap(), json);
        let schema = serde_json::to_value(UpdateNote::schema()).unwrap();
        assert_eq!(schema["properties"]["label"]["type"], json!(["string", "null"]));
        assert_eq!(schema["required"], Value::Null);
        let parameters = NotesQuery::into_params(|| None);
        assert_eq!(parameters.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["label", "after", "limit"]);
    }
}
