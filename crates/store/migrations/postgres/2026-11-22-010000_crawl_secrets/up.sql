-- User names, passwords and header values of requests: of a job (page_id is empty) or of one of its pages. No answer reads
-- them, and they go when the job ends.
CREATE TABLE crawl_secret (
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    page_id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (crawl_id, page_id)
);
