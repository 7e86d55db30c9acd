ALTER TABLE team DROP COLUMN alert_emails;
DROP TABLE monitor_mail;
DROP TABLE mail_subscription;
