-- Restrictions of API keys, and networks that a team may call from: JSON arrays of texts, NULL for no restriction.
ALTER TABLE api_key ADD COLUMN endpoints TEXT;
ALTER TABLE api_key ADD COLUMN formats TEXT;
ALTER TABLE team ADD COLUMN addresses TEXT;
