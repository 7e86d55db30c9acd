-- Pages of an accepted batch that have no rows yet: its list in ordered pieces.
CREATE TABLE crawl_piece (
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    urls BLOB NOT NULL,
    PRIMARY KEY (crawl_id, seq)
);

-- Idempotent calls that added pages to a batch. They are removed with the batch.
CREATE TABLE crawl_append (
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    idempotency_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (crawl_id, idempotency_key)
);

-- Blobs that belong to a document.
CREATE INDEX crawl_document_blob ON crawl_document (blob) WHERE blob IS NOT NULL;

-- Bodies and headers are removed after delivery and with their job; size and digest (SHA-256) stay.
ALTER TABLE webhook_delivery ADD COLUMN has_body BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE webhook_delivery ADD COLUMN body_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE webhook_delivery ADD COLUMN body_digest TEXT NOT NULL DEFAULT '';
UPDATE webhook_delivery SET body_bytes = length(body);
UPDATE webhook_delivery SET has_body = FALSE, body = x'', headers = '{}' WHERE state = 'delivered';
CREATE INDEX webhook_delivery_body ON webhook_delivery (job_id) WHERE has_body;
