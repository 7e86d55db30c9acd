-- Links of the pages of a crawl with a depth limit, compressed. When a shorter path to a page is found after it was
-- read, its links lead further than before.
CREATE TABLE crawl_link (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    page_id TEXT COLLATE "C" NOT NULL,
    links BYTEA NOT NULL,
    PRIMARY KEY (run_id, page_id)
);

-- Hash of the text of a page that became a document: a page that names it as canonical is skipped if its text has the
-- same hash.
ALTER TABLE run_page ADD COLUMN content BIGINT;
-- Parent page: of a spare page the page on which it was found, else the last page of a shorter path. For a queued page
-- the job holds it.
ALTER TABLE run_page ADD COLUMN parent TEXT;
