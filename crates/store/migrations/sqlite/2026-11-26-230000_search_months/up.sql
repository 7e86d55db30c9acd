-- Requests to search engines of the web in a calendar month (UTC), such as 2026-11, of engines whose requests per month
-- are limited. Common to all servers.
CREATE TABLE search_month (
    engine TEXT NOT NULL,
    month TEXT NOT NULL,
    requests BIGINT NOT NULL,
    PRIMARY KEY (engine, month)
);
