-- Bodies in the blob store that no cached copy uses any more, until they are deleted; the marks survive a crash.
-- deleting is set when the deletion begins; from then on no copy may use the body.
CREATE TABLE unused_body (
    digest TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    deleting BOOLEAN NOT NULL
);
-- With the size, so that the total size can be summed from the index alone.
DROP INDEX cache_entry_body;
CREATE INDEX cache_entry_body ON cache_entry (body_digest, body_bytes);
