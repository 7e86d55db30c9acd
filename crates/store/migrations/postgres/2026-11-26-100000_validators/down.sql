ALTER TABLE cache_entry DROP COLUMN last_modified;
ALTER TABLE cache_entry DROP COLUMN etag;
