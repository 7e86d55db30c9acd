-- Ids and keys sort by bytes, as in SQLite, so that paging gives the same order on both databases.
CREATE TABLE team (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    unlimited BOOLEAN NOT NULL,
    concurrency INTEGER NOT NULL CHECK (concurrency > 0),
    rate_per_minute INTEGER NOT NULL CHECK (rate_per_minute >= 0),
    zero_data_retention BOOLEAN NOT NULL,
    enterprise BOOLEAN NOT NULL,
    catalog BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE api_key (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    revoked_at TIMESTAMP,
    last_used_at TIMESTAMP
);
CREATE INDEX api_key_team ON api_key (team_id, id);

-- Sums of ledger_entry for each team, updated in the same transaction. The checks are the last line of defence.
CREATE TABLE account (
    team_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES team (id),
    available BIGINT NOT NULL CHECK (available >= 0),
    reserved BIGINT NOT NULL CHECK (reserved >= 0),
    spent BIGINT NOT NULL CHECK (spent >= 0),
    granted BIGINT NOT NULL,
    CHECK (available + reserved + spent = granted)
);

-- Append-only. The key names what is paid for, so the same thing is never paid twice.
CREATE TABLE ledger_transfer (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    api_key_id TEXT COLLATE "C",
    kind TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    reservation TEXT COLLATE "C",
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX ledger_transfer_team ON ledger_transfer (team_id, key);

-- Append-only. Two rows for each transfer, which add up to zero.
CREATE TABLE ledger_entry (
    transfer_key TEXT COLLATE "C" NOT NULL REFERENCES ledger_transfer (key),
    account TEXT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (transfer_key, account)
);

CREATE TABLE reservation (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES ledger_transfer (key),
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    api_key_id TEXT COLLATE "C",
    amount BIGINT NOT NULL,
    posted BIGINT NOT NULL CHECK (posted >= 0),
    voided BIGINT NOT NULL CHECK (voided >= 0),
    is_open BOOLEAN NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    created_at TIMESTAMP NOT NULL,
    CHECK (posted + voided <= amount)
);
CREATE INDEX reservation_open ON reservation (expires_at) WHERE is_open;

-- Spent credits by day (YYYY-MM-DD, UTC); api_key_id is empty for calls without a key.
CREATE TABLE usage_day (
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    day TEXT NOT NULL,
    api_key_id TEXT COLLATE "C" NOT NULL,
    credits BIGINT NOT NULL,
    PRIMARY KEY (team_id, day, api_key_id)
);

CREATE TABLE cache_entry (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    variant TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status_code INTEGER NOT NULL,
    content_type TEXT,
    charset TEXT,
    body_digest TEXT NOT NULL,
    body_bytes BIGINT NOT NULL,
    proxy TEXT NOT NULL,
    fetched_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL
);
CREATE INDEX cache_entry_find ON cache_entry (scope, key, variant, fetched_at);
CREATE INDEX cache_entry_expiry ON cache_entry (expires_at);
CREATE INDEX cache_entry_body ON cache_entry (body_digest);

-- The URL is NULL for scrapes with zero data retention.
CREATE TABLE scrape (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id),
    api_key_id TEXT COLLATE "C",
    url TEXT,
    status_code INTEGER,
    error_code TEXT,
    cache_state TEXT,
    credits BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX scrape_success ON scrape (team_id, created_at) WHERE error_code IS NULL;
CREATE INDEX scrape_age ON scrape (created_at);

CREATE TABLE lease (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at TIMESTAMP NOT NULL
);
