-- Older versions would take them for what the server sent.
DELETE FROM cache_entry WHERE rendered;
ALTER TABLE cache_entry DROP COLUMN rendered;
ALTER TABLE run DROP COLUMN address;
