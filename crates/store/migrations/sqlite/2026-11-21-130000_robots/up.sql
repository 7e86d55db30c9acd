-- What each site answered for robots.txt, shared by all processes. No status: nobody answered, and error says why. The
-- body is kept only when there was a file. verified: whether the site's certificate was checked.
CREATE TABLE robots (
    origin TEXT NOT NULL,
    verified BOOLEAN NOT NULL,
    status INTEGER,
    error TEXT,
    body BLOB,
    fetched_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    PRIMARY KEY (origin, verified)
);
CREATE INDEX robots_expiry ON robots (expires_at);
