-- Validators of a cached page (RFC 9110 section 8.8): with a conditional request a site need not send an unchanged page
-- again.
ALTER TABLE cache_entry ADD COLUMN etag TEXT;
ALTER TABLE cache_entry ADD COLUMN last_modified TEXT;
