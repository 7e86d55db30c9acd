-- Whether the body is the rendered page, after its scripts ran, and not the response of the server.
ALTER TABLE cache_entry ADD COLUMN rendered BOOLEAN NOT NULL DEFAULT FALSE;
-- Address at which the client that started the run reached the service: the base of file URLs in its documents.
ALTER TABLE run ADD COLUMN address TEXT;
