ALTER TABLE team DROP COLUMN partner_grant;
ALTER TABLE team DROP COLUMN max_monitors;
DROP TABLE monitor_series;
DROP TABLE monitor_page;
DROP TABLE monitor_check_target;
DROP TABLE monitor_check;
DROP TABLE monitor_secret;
DROP TABLE monitor_target;
DROP TABLE monitor;
