-- What a team has done, the newest first: its list is merged from these and from scrape_success and browser_session_team.
CREATE INDEX scrape_failure ON scrape (team_id, created_at) WHERE error_code IS NOT NULL;
-- Scrapes of files that were sent have no address.
CREATE INDEX scrape_file ON scrape (team_id, created_at) WHERE url IS NULL;
CREATE INDEX run_team ON run (team_id, created_at);

-- The same key with the same fingerprint means the same session.
ALTER TABLE browser_session ADD COLUMN idempotency_key TEXT COLLATE "C";
ALTER TABLE browser_session ADD COLUMN fingerprint TEXT;
CREATE UNIQUE INDEX browser_session_idempotency ON browser_session (team_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
