-- Cache of robots.txt responses, shared by all processes. Without a response, status is NULL and error says why. body
-- is set only if there was a file. verified: whether the site's certificate was verified.
CREATE TABLE robots (
    origin TEXT COLLATE "C" NOT NULL,
    verified BOOLEAN NOT NULL,
    status INTEGER,
    error TEXT,
    body BYTEA,
    fetched_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    PRIMARY KEY (origin, verified)
);
CREATE INDEX robots_expiry ON robots (expires_at);
