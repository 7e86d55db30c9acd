DROP INDEX webhook_delivery_body;
ALTER TABLE webhook_delivery DROP COLUMN body_digest;
ALTER TABLE webhook_delivery DROP COLUMN body_bytes;
ALTER TABLE webhook_delivery DROP COLUMN has_body;
DROP INDEX crawl_document_blob;
DROP TABLE crawl_append;
DROP TABLE crawl_piece;
