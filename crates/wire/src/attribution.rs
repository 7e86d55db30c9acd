//! What clients add to every body to say who they are.

use serde::Serialize;
use utoipa::ToSchema;

use crate::read::Fields;

/// Who calls, in the caller's own words. It changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Attribution {
    /// The client library that calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub origin: Option<String>,
    /// The product that calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub integration: Option<String>,
}

impl Attribution {
    /// Reads the two fields out of an object that holds others too.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let mut name = |key: &'static str| fields.take(key).and_then(|field| field.name(0..=1000));
        Self { origin: name("origin"), integration: name("integration") }
    }
}
