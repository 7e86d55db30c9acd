DROP TABLE search_month;
