-- Id of another page of the same run: for a waiting page, the one that it may be a copy of, also after the wait; for an
-- alias, the page that is its document.
ALTER TABLE run_page ADD COLUMN other TEXT COLLATE "C";
CREATE INDEX run_page_waiting ON run_page (other) WHERE state = 'waiting';
