DROP TABLE crawl_run;
DROP TABLE crawl_family;
DROP TABLE crawl_document;
DROP TABLE crawl_page;
DROP TABLE crawl;
