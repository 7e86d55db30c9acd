-- What a scrape is made again from for a day: the copy of its page, its options. JSON, as the operations write it.
ALTER TABLE scrape ADD COLUMN kept TEXT;
