-- Parts of the page that have changed in its last checks, and what its target remembers of it besides, as JSON; null for a
-- page of which nothing is remembered. At most some 120 KB.
ALTER TABLE monitor_series ADD COLUMN memory BLOB;
