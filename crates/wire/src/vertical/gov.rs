//! `POST /v2/search/gov`: governments and courts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{MAX_NAME_CHARS, results};
use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::read::{self, Field, Fields};
use crate::search::{WebResult, host_name, query_text};
use crate::words::words;

words! {
    /// Kind of a court.
    pub enum CourtType {
        /// Supreme Court of the United States.
        FederalSupreme = "federal-supreme",
        /// Federal courts of appeals.
        FederalAppellate = "federal-appellate",
        /// Federal district courts.
        FederalDistrict = "federal-district",
        /// Federal bankruptcy courts.
        FederalBankruptcy = "federal-bankruptcy",
        /// Federal courts of special jurisdiction.
        FederalSpecial = "federal-special",
        /// Military courts.
        Military = "military",
        /// Supreme courts of states.
        StateSupreme = "state-supreme",
        /// Courts of appeals of states.
        StateAppellate = "state-appellate",
        /// Trial courts of states.
        StateTrial = "state-trial",
        /// State courts of special jurisdiction.
        StateSpecial = "state-special",
        /// Attorneys general of states.
        StateAttorneyGeneral = "state-attorney-general",
    }
}

/// Search of the web sites of governments and courts.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GovRequest {
    /// Query.
    #[schema(min_length = 1, max_length = 500)]
    pub query: String,
    /// Maximum number of results.
    #[schema(required = false, default = 10, minimum = 1, maximum = 100)]
    pub k: u32,
    /// Jurisdiction: `us`, or a state such as `us-ca`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^us(-[a-z]{2})?$")]
    pub jurisdiction: Option<String>,
    /// Court, by its id at `CourtListener`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub court: Option<String>,
    /// Kind of court.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub court_type: Option<CourtType>,
    /// Decision or statute that results cite.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub cites: Option<String>,
    /// Host name that results must belong to, subdomains included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Decodes the body of `POST /v2/search/gov`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
pub fn decode_gov(body: Value) -> Result<GovRequest, Invalid> {
    read::body(body, GovRequest::read)
}

impl GovRequest {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let query = fields.need("query").and_then(query_text);
        let name = |field: Field<'_>| field.name(1..=MAX_NAME_CHARS);
        let k = results(fields);
        let jurisdiction = fields.take("jurisdiction").and_then(|field| field.parse(jurisdiction));
        let (court, cites) = (fields.take("court").and_then(name), fields.take("cites").and_then(name));
        let court_type = fields.take("courtType").and_then(Field::word);
        let domain = fields.take("domain").and_then(|field| field.parse(host_name));
        let attribution = Attribution::read(fields);
        Some(Self { query: query?, k, jurisdiction, court, court_type, cites, domain, attribution })
    }
}

fn jurisdiction(text: &str) -> Result<String, String> {
    let is_state = |rest: &str| rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_lowercase());
    if text == "us" || text.strip_prefix("us-").is_some_and(is_state) {
        return Ok(text.to_owned());
    }
    Err("must be `us`, or a state such as `us-ca`".to_owned())
}

/// Response of `POST /v2/search/gov`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GovAnswer {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Pages that were found.
    pub data: GovData,
    /// Warning for the caller, such as a filter that cannot be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Pages of governments and courts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GovData {
    /// Pages that were found, best first.
    pub web: Vec<WebResult>,
}
