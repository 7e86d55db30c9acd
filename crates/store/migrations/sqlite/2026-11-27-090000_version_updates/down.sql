DROP INDEX page_version_first;
CREATE INDEX page_version_first ON page_version (held_until) WHERE scraped_at IS NULL;
