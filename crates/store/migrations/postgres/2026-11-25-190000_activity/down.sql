DROP INDEX browser_session_idempotency;
ALTER TABLE browser_session DROP COLUMN fingerprint;
ALTER TABLE browser_session DROP COLUMN idempotency_key;
DROP INDEX file_team;
DROP INDEX run_team;
DROP INDEX scrape_file;
DROP INDEX scrape_page;
