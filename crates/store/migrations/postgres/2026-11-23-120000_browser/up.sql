-- A browser that a client keeps for a while, one row for each. owner is where the server that runs it is reached by the
-- others, alive_until until when it is known to run it. The tokens open it over its addresses; they are emptied with its
-- end. scrape_id is the scrape whose page it shows, if it was opened for one.
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
-- A scrape has one session at a time, on whichever server.
CREATE UNIQUE INDEX browser_session_scrape ON browser_session (scrape_id) WHERE ended_at IS NULL;
CREATE INDEX browser_session_alive ON browser_session (alive_until) WHERE ended_at IS NULL;
CREATE INDEX browser_session_team ON browser_session (team_id, created_at);
CREATE INDEX browser_session_age ON browser_session (created_at);

-- Cookies and storage under a name of the team's own. state is sealed with a key that is not in the database.
CREATE TABLE profile (
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    name TEXT COLLATE "C" NOT NULL,
    state BYTEA NOT NULL,
    saved_at TIMESTAMP NOT NULL,
    used_at TIMESTAMP NOT NULL,
    PRIMARY KEY (team_id, name)
);
CREATE INDEX profile_use ON profile (used_at);
