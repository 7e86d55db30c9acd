-- What a key may be used for and where a team may call from: a JSON list of texts each, NULL for no rule.
ALTER TABLE api_key ADD COLUMN endpoints TEXT;
ALTER TABLE api_key ADD COLUMN formats TEXT;
ALTER TABLE team ADD COLUMN addresses TEXT;
-- The key that started a session, which ends with it.
ALTER TABLE browser_session ADD COLUMN api_key_id TEXT COLLATE "C";
