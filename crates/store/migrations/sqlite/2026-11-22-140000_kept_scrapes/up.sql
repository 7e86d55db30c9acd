-- Data from which a scrape can be made again for a day: its cached copy and its options, as JSON in the format of the
-- operations.
ALTER TABLE scrape ADD COLUMN kept TEXT;
