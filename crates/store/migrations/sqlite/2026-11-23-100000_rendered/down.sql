-- Older versions would treat rendered bodies as responses of the server.
DELETE FROM cache_entry WHERE rendered;
ALTER TABLE cache_entry DROP COLUMN rendered;
ALTER TABLE run DROP COLUMN address;
