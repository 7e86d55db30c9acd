//! Attribution fields that clients add to every body.

use serde::Serialize;
use utoipa::ToSchema;

use crate::read::Fields;

/// Self-reported client of the call. Informational only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Attribution {
    /// Client library.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub origin: Option<String>,
    /// Product or integration.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub integration: Option<String>,
}

impl Attribution {
    /// Reads the two fields from an object that has other fields too.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let mut name = |key: &'static str| fields.take(key).and_then(|field| field.name(0..=1000));
        Self { origin: name("origin"), integration: name("integration") }
    }
}
