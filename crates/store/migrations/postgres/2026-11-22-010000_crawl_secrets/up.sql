-- Secrets of requests (user names, passwords, header values), of a whole job (empty page_id) or of one of its pages. No
-- response contains them, and they are removed when the job ends.
CREATE TABLE crawl_secret (
    crawl_id TEXT NOT NULL REFERENCES crawl (id) ON DELETE CASCADE,
    page_id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (crawl_id, page_id)
);
