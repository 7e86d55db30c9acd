-- Where the pages of a crawl with a largest depth lead, compressed. When a shorter way to one of them is found after it was
-- read, its links lead further than they did.
CREATE TABLE crawl_link (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    page_id TEXT NOT NULL,
    links BLOB NOT NULL,
    PRIMARY KEY (run_id, page_id)
);

-- A hash of the text of a page that has become a document: a page that names it as canonical is left out when it has the same.
ALTER TABLE run_page ADD COLUMN content BIGINT;
-- The page that a spare page was found on, and the one that a shorter way leads over: a page that is queued has it in its job.
ALTER TABLE run_page ADD COLUMN parent TEXT;
