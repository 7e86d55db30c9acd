DROP TABLE crawl_secret;
