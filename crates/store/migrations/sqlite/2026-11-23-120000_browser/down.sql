DROP TABLE browser_session;
DROP TABLE profile;
