ALTER TABLE run_page DROP COLUMN parent;
ALTER TABLE run_page DROP COLUMN content;
DROP TABLE crawl_link;
