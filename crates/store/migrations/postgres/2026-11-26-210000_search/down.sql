DROP TABLE feedback;
DROP TABLE search;
