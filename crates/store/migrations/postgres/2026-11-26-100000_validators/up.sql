-- The validators of a page that is kept (RFC 9110 section 8.8): a site need not send the page again while it has not changed.
ALTER TABLE cache_entry ADD COLUMN etag TEXT;
ALTER TABLE cache_entry ADD COLUMN last_modified TEXT;
