-- Small bodies of cached pages, compressed, each stored once: a file takes several times as long to write as a row.
CREATE TABLE cache_body (
    digest TEXT NOT NULL PRIMARY KEY,
    packed BLOB NOT NULL
);
-- Whether the body is in cache_body and not in the blob store.
ALTER TABLE cache_entry ADD COLUMN in_row BOOLEAN NOT NULL DEFAULT FALSE;
