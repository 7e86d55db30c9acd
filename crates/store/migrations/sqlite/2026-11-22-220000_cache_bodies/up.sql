-- Small bodies of cached pages, packed, each once: a file takes several times as long to make as a row.
CREATE TABLE cache_body (
    digest TEXT NOT NULL PRIMARY KEY,
    packed BLOB NOT NULL
);
-- Whether the body is there, and not among the blobs.
ALTER TABLE cache_entry ADD COLUMN in_row BOOLEAN NOT NULL DEFAULT FALSE;
