//! Limits of teams for calls of language models.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::read::Fields;

/// Maximum limit of a team for tokens of language models per day.
pub const MAX_MODEL_TOKENS: u64 = 1_000_000_000_000;
/// Maximum limit of a team for the cost of language models per day.
pub const MAX_MODEL_COST: f64 = 1e9;

/// Limits of a team for calls of language models on one day (UTC), counted by each process of the server. A request that
/// exceeds one is answered without what needs a model, and is not charged for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelLimits {
    /// Tokens of questions and answers together; 0 for no limit, null for that of the server (`llm.limits.team_day`).
    #[schema(minimum = 0, maximum = 1000000000000u64)]
    pub tokens_per_day: Option<u64>,
    /// Cost by the prices of the server's settings; 0 for no limit, null for that of the server.
    #[schema(minimum = 0, maximum = 1000000000)]
    pub cost_per_day: Option<f64>,
}

/// Limits for calls of language models to change. Fields that are absent stay unchanged; null restores the limit of the
/// server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelLimitChanges {
    /// New limit of tokens; 0 for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 1000000000000u64)]
    pub tokens_per_day: Option<Option<u64>>,
    /// New limit of the cost; 0 for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1000000000)]
    pub cost_per_day: Option<Option<f64>>,
}

impl ModelLimitChanges {
    /// Returns the limits after the change.
    #[must_use]
    pub fn apply(self, limits: ModelLimits) -> ModelLimits {
        ModelLimits {
            tokens_per_day: self.tokens_per_day.unwrap_or(limits.tokens_per_day),
            cost_per_day: self.cost_per_day.unwrap_or(limits.cost_per_day),
        }
    }

    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            tokens_per_day: fields.change("tokensPerDay", |field| field.whole(0..=MAX_MODEL_TOKENS)),
            cost_per_day: fields.change("costPerDay", |field| field.number(0.0..=MAX_MODEL_COST)),
        }
    }
}

/// Reads the limits of a request.
pub(crate) fn model_limits(fields: &mut Fields<'_>) -> Option<ModelLimitChanges> {
    fields.take("modelLimits").and_then(|field| field.record(ModelLimitChanges::read))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decode_update_team;

    #[test]
    fn limits_are_changed_and_removed() {
        let limits = decode_update_team(json!({ "modelLimits": { "tokensPerDay": null, "costPerDay": 0.5 } })).unwrap();
        let want = ModelLimitChanges { tokens_per_day: Some(None), cost_per_day: Some(Some(0.5)) };
        assert_eq!(limits.model_limits, Some(want));
        let sent = serde_json::to_value(&limits).unwrap();
        assert_eq!(sent["modelLimits"], json!({ "tokensPerDay": null, "costPerDay": 0.5 }));
        let known = ModelLimits { tokens_per_day: Some(7), cost_per_day: None };
        assert_eq!(want.apply(known), ModelLimits { tokens_per_day: None, cost_per_day: Some(0.5) });
        assert_eq!(decode_update_team(json!({ "modelLimits": null })).unwrap().model_limits, None);
        let refused = decode_update_team(json!({ "modelLimits": { "costPerDay": -1 } })).unwrap_err();
        assert!(refused.message.contains("`modelLimits.costPerDay`"), "{refused}");
    }
}
