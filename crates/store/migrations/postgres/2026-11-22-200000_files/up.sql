-- Signing key of file URLs, shared by all servers. It is stored in plain text because signing needs the key itself.
CREATE TABLE file_key (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    secret TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- Files. The content is the blob with that key; owner is the id of a run or a scrape.
CREATE TABLE file (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    owner TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    blob TEXT NOT NULL,
    content_type TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL
);
CREATE INDEX file_expiry ON file (expires_at);
CREATE INDEX file_owner ON file (owner);
