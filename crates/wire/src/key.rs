//! API keys in the operator's API under `/admin`.

use std::fmt;

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::admin::name;
use crate::error::Invalid;
use crate::format::FormatKind;
use crate::rules::EndpointGroup;
use crate::{read, rules, stamp};

/// Body of `POST /admin/teams/{id}/keys`: a new API key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CreateKey {
    /// Display name of the key.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// Endpoint groups that the key may use; absent or empty: all.
    #[schema(required = false, max_items = 8)]
    pub endpoints: Vec<EndpointGroup>,
    /// Formats that the key may request; absent or empty: all.
    #[schema(required = false, max_items = 19)]
    pub formats: Vec<FormatKind>,
}

impl CreateKey {
    /// Returns a key without restrictions.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), endpoints: Vec::new(), formats: Vec::new() }
    }
}

/// Body of `PATCH /admin/keys/{id}`. Fields that are absent or null stay unchanged; an empty list removes the
/// restriction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct UpdateKey {
    /// New display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Endpoint groups that the key may use; replaces the previous list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 8)]
    pub endpoints: Option<Vec<EndpointGroup>>,
    /// Formats that the key may request; replaces the previous list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 19)]
    pub formats: Option<Vec<FormatKind>>,
}

/// Response of `POST /admin/teams/{id}/keys`. The only response that contains the key itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyCreated {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// The API key.
    pub api_key: String,
    /// Id of the key, needed to change or revoke it.
    #[schema(value_type = String, format = "uuid")]
    pub key_id: Uuid,
}

impl fmt::Debug for KeyCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCreated").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

/// An API key as the operator sees it, without the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// Id of the key.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Display name of the key.
    pub name: String,
    /// Last four characters of the key.
    pub hint: String,
    /// Endpoint groups that the key may use; empty: all.
    #[serde(default)]
    pub endpoints: Vec<EndpointGroup>,
    /// Formats that the key may request; empty: all.
    #[serde(default)]
    pub formats: Vec<FormatKind>,
    /// Creation time, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// Time of last use, RFC 3339; null if never used.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub last_used_at: Option<Timestamp>,
    /// Time of revocation, RFC 3339; null while the key is valid.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub revoked_at: Option<Timestamp>,
}

/// Decodes the body of `POST /admin/teams/{id}/keys`.
///
/// # Errors
/// [`Invalid`] with every fault; see [`decode_scrape`](crate::decode_scrape).
pub fn decode_create_key(body: Value) -> Result<CreateKey, Invalid> {
    read::body(body, |fields| {
        let name = fields.need("name").and_then(name);
        let endpoints = fields.take("endpoints").and_then(rules::endpoints).unwrap_or_default();
        let formats = fields.take("formats").and_then(rules::formats).unwrap_or_default();
        Some(CreateKey { name: name?, endpoints, formats })
    })
}

/// Decodes the body of `PATCH /admin/keys/{id}`.
///
/// # Errors
/// [`Invalid`] with every fault; see [`decode_scrape`](crate::decode_scrape).
pub fn decode_update_key(body: Value) -> Result<UpdateKey, Invalid> {
    read::body(body, |fields| {
        Some(UpdateKey {
            name: fields.take("name").and_then(name),
            endpoints: fields.take("endpoints").and_then(rules::endpoints),
            formats: fields.take("formats").and_then(rules::formats),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys() {
        let plain = CreateKey::new("ci");
        assert_eq!(decode_create_key(json!({ "name": "ci" })), Ok(plain.clone()));
        assert!(decode_create_key(json!({ "name": "a\nb" })).is_err());
        let body = json!({ "name": "ci", "endpoints": ["scrape", "team"], "formats": ["rawHtml"] });
        let limited = CreateKey {
            endpoints: vec![EndpointGroup::Scrape, EndpointGroup::Team],
            formats: vec![FormatKind::RawHtml],
            ..plain
        };
        assert_eq!(decode_create_key(body), Ok(limited));
        let created = KeyCreated { success: true, api_key: "fc-secret".into(), key_id: Uuid::nil() };
        assert!(!format!("{created:?}").contains("secret"));
        assert_eq!(serde_json::to_value(created).unwrap()["apiKey"], "fc-secret");
    }

    #[test]
    fn changes() {
        let check = |body: Value, want: Result<UpdateKey, &str>| {
            assert_eq!(decode_update_key(body).map_err(|invalid| invalid.message), want.map_err(str::to_owned));
        };
        check(json!({}), Ok(UpdateKey::default()));
        let clear = UpdateKey { endpoints: Some(Vec::new()), ..UpdateKey::default() };
        check(json!({ "endpoints": [], "formats": null }), Ok(clear));
        let formats = "`formats[0]` must be `markdown`, `html`";
        let refused = decode_update_key(json!({ "formats": ["pdf"] })).unwrap_err().message;
        assert!(refused.starts_with(formats), "{refused}");
        let refused = decode_update_key(json!({ "endpoints": ["agents"] })).unwrap_err().message;
        let groups = "`scrape`, `batch`, `crawl`, `map`, `search`, `parse`, `interact`, `browser`, `monitor` or `team`";
        assert_eq!(refused, format!("`endpoints[0]` must be {groups}"));
        check(json!({ "formats": ["links", "links"] }), Err("`formats[1]` repeats the type of an earlier entry"));
        check(json!({ "credits": 1 }), Err("Unrecognized key in body: `credits`"));
    }
}
