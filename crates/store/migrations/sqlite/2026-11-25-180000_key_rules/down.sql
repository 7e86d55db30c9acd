ALTER TABLE team DROP COLUMN addresses;
ALTER TABLE api_key DROP COLUMN formats;
ALTER TABLE api_key DROP COLUMN endpoints;
