DROP TABLE webhook_delivery;
DROP TABLE webhook_secret;
