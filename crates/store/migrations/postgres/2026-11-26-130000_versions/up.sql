-- Latest version of a page for change tracking, one row for each series: a team, an address and a tag (empty for none).
-- A scrape of the series holds the row from its look-up to its booking, so that the next one compares with its version.
-- The row of a first scrape has no scraped_at until then; the version of a removed page has no body.
CREATE TABLE page_version (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    key TEXT COLLATE "C" NOT NULL,
    tag TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C",
    held_until TIMESTAMP,
    used_at TIMESTAMP NOT NULL,
    scraped_at TIMESTAMP,
    status_code INTEGER NOT NULL,
    final_url TEXT COLLATE "C" NOT NULL,
    content_type TEXT COLLATE "C",
    charset TEXT COLLATE "C",
    rendered BOOLEAN NOT NULL,
    body_digest TEXT COLLATE "C",
    body_bytes BIGINT NOT NULL,
    body_in_row BOOLEAN NOT NULL,
    text_digest TEXT COLLATE "C",
    text_bytes BIGINT NOT NULL,
    text_in_row BOOLEAN NOT NULL,
    extraction TEXT COLLATE "C",
    extraction_key TEXT COLLATE "C",
    start TEXT COLLATE "C",
    run_id TEXT COLLATE "C"
);
CREATE UNIQUE INDEX page_version_series ON page_version (team_id, key, tag);
CREATE INDEX page_version_use ON page_version (used_at);
-- Pages of the last crawl from a start.
CREATE INDEX page_version_start ON page_version (team_id, start, tag, id) WHERE start IS NOT NULL;
-- First scrapes in progress, or broken off.
CREATE INDEX page_version_first ON page_version (held_until) WHERE scraped_at IS NULL;
-- Bodies and texts that versions use; they are stored like the bodies of cached pages, in cache_body or in the blob
-- store. coming: a body that is being stored for the next version.
CREATE TABLE version_body (
    version_id TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    in_row BOOLEAN NOT NULL,
    coming BOOLEAN NOT NULL,
    PRIMARY KEY (version_id, digest, in_row)
);
CREATE INDEX version_body_digest ON version_body (digest);
CREATE INDEX version_body_coming ON version_body (version_id) WHERE coming;
