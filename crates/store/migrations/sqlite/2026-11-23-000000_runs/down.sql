ALTER TABLE crawl_template RENAME COLUMN run_id TO crawl_id;
ALTER TABLE crawl_template RENAME TO crawl_run;
ALTER TABLE crawl_family RENAME COLUMN run_id TO crawl_id;
ALTER TABLE batch_append RENAME COLUMN run_id TO crawl_id;
ALTER TABLE batch_append RENAME TO crawl_append;
ALTER TABLE batch_piece RENAME COLUMN run_id TO crawl_id;
ALTER TABLE batch_piece RENAME TO crawl_piece;
ALTER TABLE run_secret RENAME COLUMN run_id TO crawl_id;
ALTER TABLE run_secret RENAME TO crawl_secret;

DROP INDEX run_document_site;
DROP INDEX run_document_blob;
ALTER TABLE run_document RENAME COLUMN run_id TO crawl_id;
ALTER TABLE run_document RENAME TO crawl_document;
CREATE INDEX crawl_document_site ON crawl_document (team_id, site);
CREATE INDEX crawl_document_blob ON crawl_document (blob) WHERE blob IS NOT NULL;

DROP INDEX run_page_listed;
ALTER TABLE run_page RENAME COLUMN run_id TO crawl_id;
ALTER TABLE run_page RENAME TO crawl_page;
CREATE INDEX crawl_page_listed ON crawl_page (crawl_id, state, id) WHERE state IN ('spare', 'failed', 'external', 'blocked');

CREATE TABLE new_crawl (
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
INSERT INTO new_crawl
SELECT r.id, r.team_id, r.api_key_id, r.kind, r.subject, r.spec, CASE r.status WHEN 'open' THEN 'scraping' ELSE r.status END,
    p.max_items, p.pending, p.done, p.failed, p.spare, p.credits, p.reservation, p.preparing, c.landed_url, r.warning,
    r.error, r.idempotency_key, r.fingerprint, r.created_at, r.finished_at, r.expires_at
FROM run AS r JOIN run_progress AS p ON p.run_id = r.id LEFT JOIN crawl AS c ON c.run_id = r.id;
DROP TABLE crawl;
ALTER TABLE run_progress RENAME COLUMN run_id TO id;
ALTER TABLE run_progress RENAME TO crawl;
DROP TABLE crawl;
ALTER TABLE new_crawl RENAME TO crawl;
CREATE UNIQUE INDEX crawl_idempotency ON crawl (team_id, kind, idempotency_key);
CREATE INDEX crawl_active ON crawl (team_id, id) WHERE status = 'scraping';
CREATE INDEX crawl_expiry ON crawl (expires_at);
DROP TABLE run;
