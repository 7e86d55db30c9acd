-- First scrapes in progress, or broken off. Their status is 0 until the first version, and then that of a page: a condition
-- on a column that each scrape writes would have its indexes written each time.
DROP INDEX page_version_first;
CREATE INDEX page_version_first ON page_version (id) WHERE status_code = 0;
-- Room for the next version of a row on its own page, so that no index has to be written.
ALTER TABLE page_version SET (fillfactor = 75);
