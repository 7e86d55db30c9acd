ALTER TABLE team DROP COLUMN model_cost_per_day;
ALTER TABLE team DROP COLUMN model_tokens_per_day;
