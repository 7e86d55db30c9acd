-- Signing secrets of webhooks. They are stored in plain text because signing needs the secret itself.
CREATE TABLE webhook_secret (
    team_id TEXT NOT NULL PRIMARY KEY REFERENCES team (id),
    secret TEXT NOT NULL,
    previous TEXT,
    previous_until TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    CHECK ((previous IS NULL) = (previous_until IS NULL))
);

-- Webhook deliveries, one row per event and hook. The body is stored as it was built, so that every attempt sends the
-- same bytes.
CREATE TABLE webhook_delivery (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    job_id TEXT NOT NULL,
    event TEXT NOT NULL,
    url TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL,
    keep BOOLEAN NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    status INTEGER,
    error TEXT,
    duration_ms BIGINT,
    created_at TIMESTAMP NOT NULL,
    delivered_at TIMESTAMP,
    next_at TIMESTAMP
);
CREATE INDEX webhook_delivery_team ON webhook_delivery (team_id, id);
CREATE INDEX webhook_delivery_state ON webhook_delivery (team_id, state, id);
CREATE INDEX webhook_delivery_age ON webhook_delivery (created_at);
