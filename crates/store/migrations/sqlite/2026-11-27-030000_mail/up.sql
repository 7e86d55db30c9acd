-- Recipients of a team's mails: those outside of its alert addresses who were asked for confirmation, and all who want no
-- mails any more. address is in lower case. asked_at is the time of the last mail that asked; null if there was none.
CREATE TABLE mail_subscription (
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'confirmed', 'unsubscribed')),
    asked_at TIMESTAMP,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (team_id, address)
);
CREATE INDEX mail_subscription_asked ON mail_subscription (address, asked_at) WHERE asked_at IS NOT NULL;
CREATE INDEX mail_subscription_asked_by ON mail_subscription (team_id, asked_at) WHERE asked_at IS NOT NULL;

-- Mails about checks, one for each recipient. error is the reason of the last failure.
CREATE TABLE monitor_mail (
    check_id TEXT NOT NULL REFERENCES monitor_check (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'skipped', 'failed')),
    error TEXT,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (check_id, address)
);

-- Addresses that get the mails of a team's monitors without confirmation, a JSON array.
ALTER TABLE team ADD COLUMN alert_emails TEXT;
