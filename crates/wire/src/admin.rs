//! Operator's API under `/admin`: teams, their keys, their credits.

use std::fmt;

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::chat::{self, ChatChannel};
use crate::error::Invalid;
use crate::model_limits::{ModelLimitChanges, ModelLimits, model_limits};
use crate::monitor::email_addresses;
use crate::query::{self, QueryParams};
use crate::read::{self, Field, Fields};
use crate::words::words;
use crate::{rules, stamp};

/// Maximum credits per grant. Low enough that sums of grants cannot overflow 64 bits.
pub const MAX_CREDITS: u64 = 1_000_000_000_000;
/// Maximum concurrency of a team.
pub const MAX_CONCURRENCY: u32 = 10_000;
/// Default number of entries per page of a list.
pub const DEFAULT_PAGE_LIMIT: u32 = 100;
/// Maximum number of entries per page of a list.
pub const MAX_PAGE_LIMIT: u32 = 1000;
/// Maximum rate limit of a team, in requests per minute.
pub const MAX_RATE_LIMIT: u32 = 10_000_000;

/// Maximum of a team's limit of monitors.
pub const MAX_MONITORS: u32 = 100_000;

/// Body of `POST /admin/teams`: a new team.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTeam {
    /// Display name of the team.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// Initial credits; null or absent: unlimited.
    #[schema(minimum = 0, maximum = 1000000000000u64)]
    pub credits: Option<i64>,
    /// Maximum number of concurrent requests; the server's default if absent.
    #[schema(minimum = 1, maximum = 10000)]
    pub concurrency: Option<u32>,
    /// Rate limit in requests per minute, 0 for none; the server's default if absent.
    #[schema(minimum = 0, maximum = 10000000)]
    pub rate_limit: Option<u32>,
    /// Optional features that the team may use.
    #[schema(required = false)]
    pub flags: TeamFlags,
    /// Networks (such as `10.0.0.0/8`) or addresses that the team may call from; absent or empty: any.
    #[schema(required = false, max_items = 100)]
    pub addresses: Vec<String>,
    /// Limits for calls of language models, in place of those of the server.
    #[schema(required = false)]
    pub model_limits: ModelLimits,
    /// Maximum number of monitors; the server's default if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100000)]
    pub max_monitors: Option<u32>,
    /// Whether a partner pays for the work of the team; absent: there is no partner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partner_grant: Option<PartnerGrant>,
    /// Addresses that get the mails of the team's monitors without confirmation; they are the recipients of a monitor
    /// that names none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 25)]
    pub alert_emails: Vec<String>,
    /// Chat channels that are told of the checks of the team's monitors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 10)]
    pub chat_channels: Vec<ChatChannel>,
}

words! {
    /// Whether a partner pays for the work of a team.
    pub enum PartnerGrant {
        /// Granted.
        Active = "active",
        /// Withdrawn: checks of monitors are skipped.
        Withdrawn = "withdrawn",
    }
}

/// Optional features of a team.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TeamFlags {
    /// Whether the team may request zero data retention.
    pub zero_data_retention: bool,
    /// Whether the team may use the enterprise options of crawls.
    pub enterprise: bool,
    /// Whether the team may use the catalog of provider tools.
    pub catalog: bool,
}

/// Response of `POST /admin/teams`. The only response that contains the key itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamCreated {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// First API key of the team.
    pub api_key: String,
    /// Team id.
    #[schema(value_type = String, format = "uuid")]
    pub team_id: Uuid,
}

impl fmt::Debug for TeamCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamCreated").field("team_id", &self.team_id).finish_non_exhaustive()
    }
}

/// A team as the operator sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamView {
    /// Team id.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Display name of the team.
    pub name: String,
    /// Whether the team's credits are unlimited.
    pub unlimited: bool,
    /// Credits available; null if unlimited.
    pub available: Option<i64>,
    /// Credits reserved for running requests.
    pub reserved: i64,
    /// Credits spent so far.
    pub spent: i64,
    /// Maximum number of concurrent requests.
    pub concurrency: u32,
    /// Rate limit in requests per minute; 0 for none.
    pub rate_limit: u32,
    /// Optional features that the team may use.
    pub flags: TeamFlags,
    /// Networks that the team may call from; empty: any.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Limits for calls of language models.
    #[serde(default)]
    pub model_limits: ModelLimits,
    /// Maximum number of monitors; null: the server's default.
    #[serde(default)]
    pub max_monitors: Option<u32>,
    /// Whether a partner pays for the work of the team; null: there is no partner.
    #[serde(default)]
    pub partner_grant: Option<PartnerGrant>,
    /// Addresses that get the mails of the team's monitors without confirmation.
    #[serde(default)]
    pub alert_emails: Vec<String>,
    /// Chat channels that are told of the checks of the team's monitors. Of each URL only scheme and host are shown.
    #[serde(default)]
    pub chat_channels: Vec<ChatChannel>,
    /// Creation time, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
}

/// Body of `PATCH /admin/teams/{id}`. Fields that are absent stay unchanged; so do those that are null, unless they say
/// otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateTeam {
    /// New display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Whether the team's credits are unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlimited: Option<bool>,
    /// Credits to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000000000000u64)]
    pub add_credits: Option<i64>,
    /// New maximum number of concurrent requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub concurrency: Option<u32>,
    /// New rate limit in requests per minute; 0 for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10000000)]
    pub rate_limit: Option<u32>,
    /// Features to enable or disable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<FlagChanges>,
    /// Networks that the team may call from; replaces the previous list. An empty list removes the restriction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub addresses: Option<Vec<String>>,
    /// Limits for calls of language models to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_limits: Option<ModelLimitChanges>,
    /// New maximum number of monitors; null for the server's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 100000)]
    pub max_monitors: Option<Option<u32>>,
    /// Whether a partner pays for the work of the team; null for no partner.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PartnerGrant>)]
    pub partner_grant: Option<Option<PartnerGrant>>,
    /// Addresses that get the mails of the team's monitors without confirmation; replaces the previous list. An empty
    /// list removes all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 25)]
    pub alert_emails: Option<Vec<String>>,
    /// Chat channels that are told of the checks of the team's monitors; replaces the previous list. A URL as answers
    /// show it keeps the channel. An empty list or null removes all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 10)]
    pub chat_channels: Option<Vec<ChatChannel>>,
}

/// Features to enable or disable. Fields that are absent or null stay unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FlagChanges {
    /// Whether the team may request zero data retention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_data_retention: Option<bool>,
    /// Whether the team may use the enterprise options of crawls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enterprise: Option<bool>,
    /// Whether the team may use the catalog of provider tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<bool>,
}

impl FlagChanges {
    /// Returns the flags after the change.
    #[must_use]
    pub fn apply(self, flags: TeamFlags) -> TeamFlags {
        TeamFlags {
            zero_data_retention: self.zero_data_retention.unwrap_or(flags.zero_data_retention),
            enterprise: self.enterprise.unwrap_or(flags.enterprise),
            catalog: self.catalog.unwrap_or(flags.catalog),
        }
    }
}

/// One page of a list, ordered by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Listing<T> {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Entries of this page.
    pub data: Vec<T>,
    /// Id to pass as `after` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "uuid")]
    pub next: Option<Uuid>,
}

/// Query parameters of a list: the page to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next` of the previous page
    #[param(value_type = Option<String>, format = "uuid")]
    pub after: Option<Uuid>,
    /// 1 to 1000 entries, 100 by default
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: u32,
}

impl PageQuery {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let after = fields.take("after").and_then(Field::id);
        let limit = fields.take("limit").and_then(|field| field.digits(1..=MAX_PAGE_LIMIT));
        Self { after, limit: limit.unwrap_or(DEFAULT_PAGE_LIMIT) }
    }
}

impl QueryParams for PageQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| Some(Self::read(fields)))
    }
}

/// Decodes the body of `POST /admin/teams`.
///
/// # Errors
/// [`Invalid`] with every fault; see [`decode_scrape`](crate::decode_scrape).
pub fn decode_create_team(body: Value) -> Result<CreateTeam, Invalid> {
    read::body(body, |fields| {
        let name = fields.need("name").and_then(name);
        let credits = fields.take("credits").and_then(|field| credits(field, 0));
        let (concurrency, rate_limit) = limits(fields);
        let changes = fields.take("flags").and_then(|field| field.record(FlagChanges::read)).unwrap_or_default();
        let addresses = fields.take("addresses").and_then(rules::addresses).unwrap_or_default();
        let flags = changes.apply(TeamFlags::default());
        let model_limits = model_limits(fields).unwrap_or_default().apply(ModelLimits::default());
        let max_monitors = fields.take("maxMonitors").and_then(max_monitors);
        let partner_grant = fields.take("partnerGrant").and_then(Field::word);
        let alert_emails = fields.take("alertEmails").and_then(email_addresses).unwrap_or_default();
        let chat_channels = fields.take("chatChannels").and_then(chat::channels).unwrap_or_default();
        Some(CreateTeam {
            name: name?,
            credits,
            concurrency,
            rate_limit,
            flags,
            addresses,
            model_limits,
            max_monitors,
            partner_grant,
            alert_emails,
            chat_channels,
        })
    })
}

/// Decodes the body of `PATCH /admin/teams/{id}`.
///
/// # Errors
/// [`Invalid`] with every fault; see [`decode_scrape`](crate::decode_scrape).
pub fn decode_update_team(body: Value) -> Result<UpdateTeam, Invalid> {
    read::body(body, |fields| {
        let (concurrency, rate_limit) = limits(fields);
        Some(UpdateTeam {
            name: fields.take("name").and_then(name),
            unlimited: fields.take("unlimited").and_then(Field::flag),
            add_credits: fields.take("addCredits").and_then(|field| credits(field, 1)),
            concurrency,
            rate_limit,
            flags: fields.take("flags").and_then(|field| field.record(FlagChanges::read)),
            addresses: fields.take("addresses").and_then(rules::addresses),
            model_limits: model_limits(fields),
            max_monitors: fields.change("maxMonitors", max_monitors),
            partner_grant: fields.change("partnerGrant", Field::word),
            alert_emails: fields.take("alertEmails").and_then(email_addresses),
            chat_channels: fields.change("chatChannels", chat::channels).map(Option::unwrap_or_default),
        })
    })
}

/// Reads a display name.
pub(crate) fn name(field: Field<'_>) -> Option<String> {
    field.name(1..=200)
}

fn credits(field: Field<'_>, least: u64) -> Option<i64> {
    field.whole(least..=MAX_CREDITS).and_then(|credits| i64::try_from(credits).ok())
}

fn max_monitors(field: Field<'_>) -> Option<u32> {
    field.whole32(0..=MAX_MONITORS)
}

fn limits(fields: &mut Fields<'_>) -> (Option<u32>, Option<u32>) {
    let concurrency = fields.take("concurrency").and_then(|field| field.whole32(1..=MAX_CONCURRENCY));
    let rate_limit = fields.take("rateLimit").and_then(|field| field.whole32(0..=MAX_RATE_LIMIT));
    (concurrency, rate_limit)
}

impl FlagChanges {
    fn read(fields: &mut Fields<'_>) -> Self {
        let mut flag = |key: &'static str| fields.take(key).and_then(Field::flag);
        Self {
            zero_data_retention: flag("zeroDataRetention"),
            enterprise: flag("enterprise"),
            catalog: flag("catalog"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_create(body: Value, want: Result<CreateTeam, &str>) {
        assert_eq!(decode_create_team(body).map_err(|invalid| invalid.message), want.map_err(str::to_owned));
    }

    #[test]
    fn create_team() {
        let plain = CreateTeam {
            name: "a".into(),
            credits: None,
            concurrency: None,
            rate_limit: None,
            flags: TeamFlags::default(),
            addresses: Vec::new(),
            model_limits: ModelLimits::default(),
            max_monitors: None,
            partner_grant: None,
            alert_emails: Vec::new(),
            chat_channels: Vec::new(),
        };
        check_create(json!({ "name": "a" }), Ok(plain.clone()));
        check_create(json!({ "name": "a", "credits": null, "flags": {} }), Ok(plain.clone()));
        let body = json!({ "name": "a", "credits": 0, "concurrency": 1, "rateLimit": 0, "flags": { "catalog": true } });
        let flags = TeamFlags { catalog: true, ..TeamFlags::default() };
        let want = CreateTeam { credits: Some(0), concurrency: Some(1), rate_limit: Some(0), flags, ..plain.clone() };
        check_create(body, Ok(want));
        let granted = CreateTeam { max_monitors: Some(9), partner_grant: Some(PartnerGrant::Active), ..plain.clone() };
        check_create(json!({ "name": "a", "maxMonitors": 9, "partnerGrant": "active" }), Ok(granted));
        check_create(json!({}), Err("`name` is required"));
        check_create(json!({ "name": "" }), Err("`name` must have 1 to 200 characters, has 0"));
        check_create(json!({ "name": "a", "teir": 1 }), Err("Unrecognized key in body: `teir`"));
        let concurrency = "`concurrency` must be a whole number from 1 to 10000, got 0";
        check_create(json!({ "name": "a", "concurrency": 0 }), Err(concurrency));
        let credits = "`credits` must be a whole number from 0 to 1000000000000, got -1";
        check_create(json!({ "name": "a", "credits": -1 }), Err(credits));
        check_create(
            json!({ "name": "a", "flags": { "catalog": 1 } }),
            Err("`flags.catalog` must be true or false, got 1"),
        );
    }

    #[test]
    fn pages() {
        let check = |query: &str, want: Result<(bool, u32), &str>| {
            let got = PageQuery::decode(query).map(|page| (page.after.is_some(), page.limit));
            assert_eq!(got.map_err(|invalid| invalid.message), want.map_err(str::to_owned), "{query}");
        };
        check("", Ok((false, 100)));
        check("limit=5&after=00000000-0000-7000-8000-000000000000", Ok((true, 5)));
        check("limit=0", Err("`limit` must be a whole number from 1 to 1000"));
        check("limit=1001", Err("`limit` must be a whole number from 1 to 1000"));
        check("limit=", Err("`limit` must be a whole number from 1 to 1000"));
        check("after=", Err("`after` must be an id"));
        check("after=x&limit=x", Err("`after` must be an id; `limit` must be a whole number from 1 to 1000"));
    }

    #[test]
    fn update_team() {
        assert_eq!(decode_update_team(json!({})), Ok(UpdateTeam::default()));
        let update = decode_update_team(json!({ "addCredits": 5, "flags": { "enterprise": false } })).unwrap();
        assert_eq!(update.add_credits, Some(5));
        let before = TeamFlags { zero_data_retention: true, enterprise: true, catalog: false };
        let after = TeamFlags { zero_data_retention: true, enterprise: false, catalog: false };
        assert_eq!(update.flags.unwrap_or_default().apply(before), after);
        let monitors = json!({ "maxMonitors": 0, "partnerGrant": "withdrawn" });
        let changed = decode_update_team(monitors.clone()).unwrap();
        assert_eq!((changed.max_monitors, changed.partner_grant), (Some(Some(0)), Some(Some(PartnerGrant::Withdrawn))));
        assert_eq!(serde_json::to_value(&changed).unwrap(), monitors);
        let cleared = decode_update_team(json!({ "maxMonitors": null, "partnerGrant": null })).unwrap();
        assert_eq!((cleared.max_monitors, cleared.partner_grant), (Some(None), Some(None)));
        assert!(decode_update_team(json!({ "maxMonitors": 100_001 })).is_err());
        assert!(decode_update_team(json!({ "partnerGrant": "gone" })).is_err());
        let alerts = json!({ "alertEmails": ["Ops@Example.com", "ops@example.com", "dev@example.com"] });
        let alerted = decode_update_team(alerts.clone()).unwrap().alert_emails.unwrap();
        assert_eq!(alerted, ["Ops@example.com", "dev@example.com"]);
        assert_eq!(decode_update_team(json!({ "alertEmails": [] })).unwrap().alert_emails, Some(Vec::new()));
        assert!(decode_update_team(json!({ "alertEmails": ["nope"] })).is_err());
        assert!(decode_update_team(json!({ "alertEmails": vec!["a@example.com"; 26] })).is_err());
        let chats = json!({ "chatChannels": [{ "kind": "json", "url": "https://chat.test/hush" }] });
        assert_eq!(serde_json::to_value(decode_update_team(chats.clone()).unwrap()).unwrap(), chats);
        for none in [json!([]), json!(null)] {
            assert_eq!(decode_update_team(json!({ "chatChannels": none })).unwrap().chat_channels, Some(Vec::new()));
        }
        assert!(decode_update_team(json!({ "addCredits": 0 })).is_err());
        assert!(decode_update_team(json!({ "credits": 5 })).is_err());
        let networks = json!(["192.0.2.7", "2001:db8::/32"]);
        let limited = decode_update_team(json!({ "addresses": networks })).unwrap().addresses;
        assert_eq!(limited.unwrap(), ["192.0.2.7/32", "2001:db8::/32"]);
        assert_eq!(decode_update_team(json!({ "addresses": [] })).unwrap().addresses, Some(Vec::new()));
        let refused = decode_update_team(json!({ "addresses": ["10.0.0.0/8", "10.1.2.3/8"] })).unwrap_err();
        assert!(refused.message.starts_with("`addresses[1]` is not a network"), "{refused}");
    }
}
