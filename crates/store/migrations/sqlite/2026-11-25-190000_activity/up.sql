-- Indexes of a team's activity list, newest first, which is merged from these and browser_session_team. Scrapes of
-- uploaded files have no URL.
CREATE INDEX scrape_page ON scrape (team_id, created_at) WHERE url IS NOT NULL;
CREATE INDEX scrape_file ON scrape (team_id, created_at) WHERE url IS NULL;
CREATE INDEX run_team ON run (team_id, created_at);

-- Unread uploads of a team, the next to expire first.
CREATE INDEX file_team ON file (team_id, kind, expires_at);

-- Idempotency: the same key with the same fingerprint means the same session.
ALTER TABLE browser_session ADD COLUMN idempotency_key TEXT;
ALTER TABLE browser_session ADD COLUMN fingerprint TEXT;
CREATE UNIQUE INDEX browser_session_idempotency ON browser_session (team_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
