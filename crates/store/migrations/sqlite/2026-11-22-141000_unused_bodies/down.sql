DROP INDEX cache_entry_body;
CREATE INDEX cache_entry_body ON cache_entry (body_digest);
DROP TABLE unused_body;
