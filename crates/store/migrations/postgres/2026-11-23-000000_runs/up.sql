-- Runs: what a client starts and returns to, such as crawls and batches. run is written when it starts and when it
-- ends. run_progress is all that a commit of pages locks and writes, and what its child rows refer to: their foreign
-- keys lock a row that is locked anyway.
CREATE TABLE run (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    api_key_id TEXT COLLATE "C",
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

ALTER TABLE crawl RENAME TO run_progress;
ALTER TABLE run_progress RENAME CONSTRAINT crawl_pkey TO run_progress_pkey;
ALTER TABLE run_progress RENAME COLUMN id TO run_id;
ALTER TABLE run_progress RENAME COLUMN page_limit TO max_items;
ALTER TABLE run_progress RENAME COLUMN completed TO done;
ALTER TABLE run_progress ADD COLUMN is_open BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE run_progress SET is_open = TRUE WHERE status = 'scraping';
ALTER TABLE run_progress ALTER COLUMN is_open DROP DEFAULT;
-- Redirect target of a crawl's start URL, if there is one.
CREATE TABLE crawl (
    run_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    landed_url TEXT NOT NULL
);
INSERT INTO crawl SELECT run_id, landed_url FROM run_progress WHERE landed_url IS NOT NULL;
ALTER TABLE run_progress
    DROP COLUMN team_id, DROP COLUMN api_key_id, DROP COLUMN kind, DROP COLUMN url, DROP COLUMN request, DROP COLUMN status,
    DROP COLUMN landed_url, DROP COLUMN warning, DROP COLUMN error, DROP COLUMN idempotency_key, DROP COLUMN fingerprint,
    DROP COLUMN created_at, DROP COLUMN finished_at, DROP COLUMN expires_at,
    ADD FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE;
-- Leaves room for new row versions on the same page: the row is written with every commit.
ALTER TABLE run_progress SET (fillfactor = 50);

ALTER TABLE crawl_page RENAME TO run_page;
ALTER TABLE run_page RENAME COLUMN crawl_id TO run_id;
ALTER TABLE run_page RENAME CONSTRAINT crawl_page_pkey TO run_page_pkey;
ALTER TABLE run_page RENAME CONSTRAINT crawl_page_crawl_id_key_key TO run_page_run_id_key_key;
ALTER INDEX crawl_page_listed RENAME TO run_page_listed;

ALTER TABLE crawl_document RENAME TO run_document;
ALTER TABLE run_document RENAME COLUMN crawl_id TO run_id;
ALTER TABLE run_document RENAME CONSTRAINT crawl_document_pkey TO run_document_pkey;
ALTER INDEX crawl_document_site RENAME TO run_document_site;
ALTER INDEX crawl_document_blob RENAME TO run_document_blob;

ALTER TABLE crawl_secret RENAME TO run_secret;
ALTER TABLE run_secret RENAME COLUMN crawl_id TO run_id;
ALTER TABLE run_secret RENAME CONSTRAINT crawl_secret_pkey TO run_secret_pkey;
ALTER TABLE crawl_piece RENAME TO batch_piece;
ALTER TABLE batch_piece RENAME COLUMN crawl_id TO run_id;
ALTER TABLE batch_piece RENAME CONSTRAINT crawl_piece_pkey TO batch_piece_pkey;
ALTER TABLE crawl_append RENAME TO batch_append;
ALTER TABLE batch_append RENAME COLUMN crawl_id TO run_id;
ALTER TABLE batch_append RENAME CONSTRAINT crawl_append_pkey TO batch_append_pkey;
ALTER TABLE crawl_family RENAME COLUMN crawl_id TO run_id;
ALTER TABLE crawl_run RENAME TO crawl_template;
ALTER TABLE crawl_template RENAME COLUMN crawl_id TO run_id;
ALTER TABLE crawl_template RENAME CONSTRAINT crawl_run_pkey TO crawl_template_pkey;
