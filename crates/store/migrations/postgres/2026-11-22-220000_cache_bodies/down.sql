DELETE FROM cache_entry WHERE in_row;
ALTER TABLE cache_entry DROP COLUMN in_row;
DROP TABLE cache_body;
