-- Bodies that no cached copy names any more, until they are deleted: what is marked survives the process that does it.
-- deleting is set when nobody used it after all; from then on nobody relies on the body.
CREATE TABLE unused_body (
    digest TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    deleting BOOLEAN NOT NULL
);
-- With the size, so that the sizes of all bodies can be summed up from the index alone.
DROP INDEX cache_entry_body;
CREATE INDEX cache_entry_body ON cache_entry (body_digest, body_bytes);
