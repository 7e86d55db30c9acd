-- Browser sessions. owner is the address at which other servers reach the one that runs the session, alive_until the
-- time until which it is known to run. The tokens give access to it and are emptied at its end. scrape_id is the scrape
-- whose page it shows, if any.
CREATE TABLE browser_session (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    scrape_id TEXT COLLATE "C",
    owner TEXT NOT NULL,
    cdp_token TEXT NOT NULL,
    view_token TEXT NOT NULL,
    hand_token TEXT NOT NULL,
    is_watchable BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    alive_until TIMESTAMP NOT NULL,
    ended_at TIMESTAMP,
    credits BIGINT NOT NULL CHECK (credits >= 0)
);
-- A scrape has one active session at a time, on any server.
CREATE UNIQUE INDEX browser_session_scrape ON browser_session (scrape_id) WHERE ended_at IS NULL;
CREATE INDEX browser_session_alive ON browser_session (alive_until) WHERE ended_at IS NULL;
CREATE INDEX browser_session_team ON browser_session (team_id, created_at);
CREATE INDEX browser_session_age ON browser_session (created_at);

-- Browser profiles: cookies and storage under a name chosen by the team. state is sealed with a key that is not in the
-- database.
CREATE TABLE profile (
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    name TEXT COLLATE "C" NOT NULL,
    state BYTEA NOT NULL,
    saved_at TIMESTAMP NOT NULL,
    used_at TIMESTAMP NOT NULL,
    PRIMARY KEY (team_id, name)
);
CREATE INDEX profile_use ON profile (used_at);
