-- Crawls and batches. The counters change in the transaction of the pages that they count.
CREATE TABLE crawl (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    api_key_id TEXT,
    kind TEXT NOT NULL,
    url TEXT,
    request TEXT NOT NULL,
    status TEXT NOT NULL,
    page_limit BIGINT NOT NULL CHECK (page_limit >= 0),
    pending BIGINT NOT NULL CHECK (pending >= 0),
    completed BIGINT NOT NULL CHECK (completed >= 0),
    failed BIGINT NOT NULL CHECK (failed >= 0),
    spare BIGINT NOT NULL CHECK (spare >= 0),
    credits BIGINT NOT NULL,
    reservation TEXT,
    preparing BOOLEAN NOT NULL,
    landed_url TEXT,
    warning TEXT,
    error TEXT,
    idempotency_key TEXT,
    fingerprint TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    finished_at TIMESTAMP,
    expires_at TIMESTAMP NOT NULL,
    CHECK (pending + completed <= page_limit)
);
CREATE UNIQUE INDEX crawl_idempotency ON crawl (team_id, kind, idempotency_key);
CREATE INDEX crawl_active ON crawl (team_id, id) WHERE status = 'scraping';
CREATE INDEX crawl_expiry ON crawl (expires_at);

-- Known URLs of a crawl: key is a digest of the normalised URL, unique for each crawl.
CREATE TABLE crawl_page (
    id TEXT NOT NULL PRIMARY KEY,
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    key BLOB NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    state TEXT NOT NULL,
    code TEXT,
    error TEXT,
    finished_at TIMESTAMP,
    UNIQUE (crawl_id, key)
);
CREATE INDEX crawl_page_listed ON crawl_page (crawl_id, state, id) WHERE state IN ('spare', 'failed', 'external', 'blocked');

-- Documents of a crawl in the order in which they were finished; seq has no gaps and starts at 1.
CREATE TABLE crawl_document (
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    page_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    site TEXT,
    url TEXT NOT NULL,
    title TEXT,
    description TEXT,
    bytes BIGINT NOT NULL,
    body BLOB,
    blob TEXT,
    PRIMARY KEY (crawl_id, seq)
);
CREATE INDEX crawl_document_site ON crawl_document (team_id, site);

-- Number of URLs in each family (a path with its queries, a calendar), a counter against crawler traps.
CREATE TABLE crawl_family (
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    hash BIGINT NOT NULL,
    known BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, hash)
);

-- Number of pages in a row of one URL template that had the same content.
CREATE TABLE crawl_run (
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    template BIGINT NOT NULL,
    hash BIGINT NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, template)
);
