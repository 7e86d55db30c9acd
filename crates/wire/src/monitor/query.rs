//! Query parameters of monitors.

use utoipa::IntoParams;

use crate::error::Invalid;
use crate::monitor::{CheckPageStatus, CheckStatus};
use crate::query::{self, QueryParams};
use crate::read::{Field, Fields};

/// Default of `limit`.
const DEFAULT_LIMIT: u32 = 25;
/// Maximum of `limit`.
const MAX_LIMIT: u32 = 100;
/// Maximum of `skip` and `offset`.
const MAX_SKIP: u64 = 1_000_000_000;

/// Query parameters of `GET /v2/monitor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MonitorsQuery {
    /// 1 to 100 monitors, 25 by default
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    pub limit: u32,
    /// Number of monitors to skip
    #[param(value_type = Option<u64>, maximum = 1000000000)]
    pub offset: u64,
}

/// Query parameters of `GET /v2/monitor/{id}/checks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ChecksQuery {
    /// 1 to 100 checks, 25 by default
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    pub limit: u32,
    /// Number of checks to skip; `offset` is accepted too
    #[param(value_type = Option<u64>, maximum = 1000000000)]
    pub skip: u64,
    /// Only checks of this status
    pub status: Option<CheckStatus>,
}

/// Query parameters of `GET /v2/monitor/{id}/checks/{checkId}`: the pages to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CheckQuery {
    /// 1 to 100 pages, 25 by default
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    pub limit: u32,
    /// Number of pages to skip; `offset` is accepted too
    #[param(value_type = Option<u64>, maximum = 1000000000)]
    pub skip: u64,
    /// Only pages of this status
    pub status: Option<CheckPageStatus>,
}

impl QueryParams for MonitorsQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| Some(Self { limit: limit(fields), offset: skip(fields) }))
    }
}

impl QueryParams for ChecksQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let status = fields.take("status").and_then(Field::filled).and_then(Field::word);
            Some(Self { limit: limit(fields), skip: skip(fields), status })
        })
    }
}

impl QueryParams for CheckQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let status = fields.take("status").and_then(Field::filled).and_then(Field::word);
            Some(Self { limit: limit(fields), skip: skip(fields), status })
        })
    }
}

fn limit(fields: &mut Fields<'_>) -> u32 {
    let limit = fields.take("limit").and_then(Field::filled).and_then(|field| field.digits(1..=MAX_LIMIT));
    limit.unwrap_or(DEFAULT_LIMIT)
}

/// Reads the number of entries to skip, under either of its names.
fn skip(fields: &mut Fields<'_>) -> u64 {
    let mut number = |key| fields.take(key).and_then(Field::filled).and_then(|field| field.digits(0..=MAX_SKIP));
    let (skip, offset): (Option<u64>, Option<u64>) = (number("skip"), number("offset"));
    skip.or(offset).unwrap_or(0)
}
