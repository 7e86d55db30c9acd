DROP TABLE file;
DROP TABLE file_key;
