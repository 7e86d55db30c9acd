-- Runs: what a client starts and returns to, such as crawls and batches. run is written when it starts and when it
-- ends. run_progress is all that a commit of pages locks and writes, and what its child rows refer to.
--
-- This rebuilds a table that others refer to, which needs foreign keys to be off: otherwise DROP TABLE would delete all
-- pages and documents. store::migrate turns them off, and checks afterwards that every reference leads to a row.
CREATE TABLE run (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    api_key_id TEXT,
    kind TEXT NOT NULL,
    subject TEXT,
    spec TEXT NOT NULL,
    private BOOLEAN NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'completed', 'failed', 'cancelled')),
    warning TEXT,
    error TEXT,
    idempotency_key TEXT,
    fingerprint TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    finished_at TIMESTAMP,
    expires_at TIMESTAMP NOT NULL
);
-- A request with such a member anywhere counts as private: false positives are harmless, false negatives are not.
INSERT INTO run
SELECT id, team_id, api_key_id, kind, url, request,
    request LIKE '%"zeroDataRetention":true%' OR request LIKE '%"lockdown":true%',
    CASE status WHEN 'scraping' THEN 'open' ELSE status END,
    warning, error, idempotency_key, fingerprint, created_at, finished_at, expires_at
FROM crawl;
CREATE UNIQUE INDEX run_idempotency ON run (team_id, kind, idempotency_key);
CREATE INDEX run_active ON run (team_id, id) WHERE status = 'open';
CREATE INDEX run_expiry ON run (expires_at);

-- Referring tables and columns follow.
ALTER TABLE crawl RENAME TO run_progress;
ALTER TABLE run_progress RENAME COLUMN id TO run_id;
CREATE TABLE new_progress (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    is_open BOOLEAN NOT NULL,
    preparing BOOLEAN NOT NULL,
    max_items BIGINT NOT NULL CHECK (max_items >= 0),
    pending BIGINT NOT NULL CHECK (pending >= 0),
    done BIGINT NOT NULL CHECK (done >= 0),
    failed BIGINT NOT NULL CHECK (failed >= 0),
    spare BIGINT NOT NULL CHECK (spare >= 0),
    credits BIGINT NOT NULL,
    reservation TEXT,
    CHECK (pending + done <= max_items)
);
INSERT INTO new_progress
SELECT run_id, status = 'scraping', preparing, page_limit, pending, completed, failed, spare, credits, reservation
FROM run_progress;
-- Redirect target of a crawl's start URL, if there is one.
CREATE TABLE crawl (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    landed_url TEXT NOT NULL
);
INSERT INTO crawl SELECT run_id, landed_url FROM run_progress WHERE landed_url IS NOT NULL;
DROP TABLE run_progress;
ALTER TABLE new_progress RENAME TO run_progress;

DROP INDEX crawl_page_listed;
ALTER TABLE crawl_page RENAME TO run_page;
ALTER TABLE run_page RENAME COLUMN crawl_id TO run_id;
CREATE INDEX run_page_listed ON run_page (run_id, state, id) WHERE state IN ('spare', 'failed', 'external', 'blocked');

DROP INDEX crawl_document_site;
DROP INDEX crawl_document_blob;
ALTER TABLE crawl_document RENAME TO run_document;
ALTER TABLE run_document RENAME COLUMN crawl_id TO run_id;
CREATE INDEX run_document_site ON run_document (team_id, site);
CREATE INDEX run_document_blob ON run_document (blob) WHERE blob IS NOT NULL;

ALTER TABLE crawl_secret RENAME TO run_secret;
ALTER TABLE run_secret RENAME COLUMN crawl_id TO run_id;
ALTER TABLE crawl_piece RENAME TO batch_piece;
ALTER TABLE batch_piece RENAME COLUMN crawl_id TO run_id;
ALTER TABLE crawl_append RENAME TO batch_append;
ALTER TABLE batch_append RENAME COLUMN crawl_id TO run_id;
ALTER TABLE crawl_family RENAME COLUMN crawl_id TO run_id;
ALTER TABLE crawl_run RENAME TO crawl_template;
ALTER TABLE crawl_template RENAME COLUMN crawl_id TO run_id;
