ALTER TABLE monitor_series DROP COLUMN memory;
