-- What URLs of files are signed with: one key for all servers. It has to be readable, whoever signs needs the key itself.
CREATE TABLE file_key (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    secret TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- One row per file; its bytes are the blob of that key. owner is what the file goes with: the id of a run or a scrape.
CREATE TABLE file (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    owner TEXT NOT NULL,
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
