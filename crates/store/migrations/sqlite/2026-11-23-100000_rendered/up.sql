-- Whether the body of a copy is what the scripts of the page have made, and not what the server sent.
ALTER TABLE cache_entry ADD COLUMN rendered BOOLEAN NOT NULL DEFAULT FALSE;
-- Where the client has reached us that started the run: URLs of files in its documents begin with it.
ALTER TABLE run ADD COLUMN address TEXT;
