-- What a team has done, the newest first: its list is merged from these and from browser_session_team. Scrapes of files that
-- were sent have no address.
CREATE INDEX scrape_page ON scrape (team_id, created_at) WHERE url IS NOT NULL;
CREATE INDEX scrape_file ON scrape (team_id, created_at) WHERE url IS NULL;
CREATE INDEX run_team ON run (team_id, created_at);

-- What a team has sent and not read yet, the one that ends first first.
CREATE INDEX file_team ON file (team_id, kind, expires_at);

-- The same key with the same fingerprint means the same session.
ALTER TABLE browser_session ADD COLUMN idempotency_key TEXT;
ALTER TABLE browser_session ADD COLUMN fingerprint TEXT;
CREATE UNIQUE INDEX browser_session_idempotency ON browser_session (team_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
