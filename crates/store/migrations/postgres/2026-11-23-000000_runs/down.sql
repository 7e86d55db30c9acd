ALTER TABLE crawl_template RENAME CONSTRAINT crawl_template_pkey TO crawl_run_pkey;
ALTER TABLE crawl_template RENAME COLUMN run_id TO crawl_id;
ALTER TABLE crawl_template RENAME TO crawl_run;
ALTER TABLE crawl_family RENAME COLUMN run_id TO crawl_id;
ALTER TABLE batch_append RENAME CONSTRAINT batch_append_pkey TO crawl_append_pkey;
ALTER TABLE batch_append RENAME COLUMN run_id TO crawl_id;
ALTER TABLE batch_append RENAME TO crawl_append;
ALTER TABLE batch_piece RENAME CONSTRAINT batch_piece_pkey TO crawl_piece_pkey;
ALTER TABLE batch_piece RENAME COLUMN run_id TO crawl_id;
ALTER TABLE batch_piece RENAME TO crawl_piece;
ALTER TABLE run_secret RENAME CONSTRAINT run_secret_pkey TO crawl_secret_pkey;
ALTER TABLE run_secret RENAME COLUMN run_id TO crawl_id;
ALTER TABLE run_secret RENAME TO crawl_secret;

ALTER INDEX run_document_blob RENAME TO crawl_document_blob;
ALTER INDEX run_document_site RENAME TO crawl_document_site;
ALTER TABLE run_document RENAME CONSTRAINT run_document_pkey TO crawl_document_pkey;
ALTER TABLE run_document RENAME COLUMN run_id TO crawl_id;
ALTER TABLE run_document RENAME TO crawl_document;

ALTER INDEX run_page_listed RENAME TO crawl_page_listed;
ALTER TABLE run_page RENAME CONSTRAINT run_page_run_id_key_key TO crawl_page_crawl_id_key_key;
ALTER TABLE run_page RENAME CONSTRAINT run_page_pkey TO crawl_page_pkey;
ALTER TABLE run_page RENAME COLUMN run_id TO crawl_id;
ALTER TABLE run_page RENAME TO crawl_page;

ALTER TABLE run_progress
    ADD COLUMN team_id TEXT COLLATE "C", ADD COLUMN api_key_id TEXT COLLATE "C", ADD COLUMN kind TEXT, ADD COLUMN url TEXT,
    ADD COLUMN request TEXT, ADD COLUMN status TEXT, ADD COLUMN landed_url TEXT, ADD COLUMN warning TEXT,
    ADD COLUMN error TEXT, ADD COLUMN idempotency_key TEXT, ADD COLUMN fingerprint TEXT, ADD COLUMN created_at TIMESTAMP,
    ADD COLUMN finished_at TIMESTAMP, ADD COLUMN expires_at TIMESTAMP;
UPDATE run_progress AS p
SET team_id = r.team_id, api_key_id = r.api_key_id, kind = r.kind, url = r.subject, request = r.spec,
    status = CASE r.status WHEN 'open' THEN 'scraping' ELSE r.status END, warning = r.warning, error = r.error,
    idempotency_key = r.idempotency_key, fingerprint = r.fingerprint, created_at = r.created_at,
    finished_at = r.finished_at, expires_at = r.expires_at
FROM run AS r WHERE r.id = p.run_id;
UPDATE run_progress AS p SET landed_url = c.landed_url FROM crawl AS c WHERE c.run_id = p.run_id;
DROP TABLE crawl;
ALTER TABLE run_progress DROP CONSTRAINT run_progress_run_id_fkey;
DROP TABLE run;
ALTER TABLE run_progress
    DROP COLUMN is_open,
    ALTER COLUMN team_id SET NOT NULL, ALTER COLUMN kind SET NOT NULL, ALTER COLUMN request SET NOT NULL,
    ALTER COLUMN status SET NOT NULL, ALTER COLUMN fingerprint SET NOT NULL, ALTER COLUMN created_at SET NOT NULL,
    ALTER COLUMN expires_at SET NOT NULL,
    ADD CONSTRAINT crawl_team_id_fkey FOREIGN KEY (team_id) REFERENCES team (id);
ALTER TABLE run_progress RESET (fillfactor);
ALTER TABLE run_progress RENAME COLUMN done TO completed;
ALTER TABLE run_progress RENAME COLUMN max_items TO page_limit;
ALTER TABLE run_progress RENAME COLUMN run_id TO id;
ALTER TABLE run_progress RENAME CONSTRAINT run_progress_pkey TO crawl_pkey;
ALTER TABLE run_progress RENAME TO crawl;
CREATE UNIQUE INDEX crawl_idempotency ON crawl (team_id, kind, idempotency_key);
CREATE INDEX crawl_active ON crawl (team_id, id) WHERE status = 'scraping';
CREATE INDEX crawl_expiry ON crawl (expires_at);
