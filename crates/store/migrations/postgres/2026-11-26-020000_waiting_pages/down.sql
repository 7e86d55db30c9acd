DROP INDEX run_page_waiting;
ALTER TABLE run_page DROP COLUMN other;
