-- Limits of a team per day for language models, in place of the common ones: tokens, and cost in millionths. NULL: the
-- common limit; 0: no limit.
ALTER TABLE team ADD COLUMN model_tokens_per_day BIGINT CHECK (model_tokens_per_day >= 0);
ALTER TABLE team ADD COLUMN model_cost_per_day BIGINT CHECK (model_cost_per_day >= 0);
