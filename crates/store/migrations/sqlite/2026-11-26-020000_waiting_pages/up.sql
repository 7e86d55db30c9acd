-- Another page of the same run, by its id: the one that a page waits or has waited for, as it may be a copy of it, and the one
-- that is the document of an alias.
ALTER TABLE run_page ADD COLUMN other TEXT;
CREATE INDEX run_page_waiting ON run_page (other) WHERE state = 'waiting';
