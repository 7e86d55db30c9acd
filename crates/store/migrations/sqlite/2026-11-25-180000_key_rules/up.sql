-- What a key may be used for and where a team may call from: a JSON list of texts each, NULL for no rule.
ALTER TABLE api_key ADD COLUMN endpoints TEXT;
ALTER TABLE api_key ADD COLUMN formats TEXT;
ALTER TABLE team ADD COLUMN addresses TEXT;
