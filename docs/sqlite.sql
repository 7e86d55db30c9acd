-- Written by `cargo xtask codegen` from crates/store/migrations/sqlite: the schema of an empty database.

CREATE TABLE team (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    unlimited BOOLEAN NOT NULL,
    concurrency INTEGER NOT NULL CHECK (concurrency > 0),
    rate_per_minute INTEGER NOT NULL CHECK (rate_per_minute >= 0),
    zero_data_retention BOOLEAN NOT NULL,
    enterprise BOOLEAN NOT NULL,
    catalog BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL
, addresses TEXT, model_tokens_per_day BIGINT CHECK (model_tokens_per_day >= 0), model_cost_per_day BIGINT CHECK (model_cost_per_day >= 0), max_monitors INTEGER CHECK (max_monitors >= 0), partner_grant TEXT CHECK (partner_grant IN ('active', 'withdrawn')), alert_emails TEXT);

CREATE TABLE api_key (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    revoked_at TIMESTAMP,
    last_used_at TIMESTAMP
, endpoints TEXT, formats TEXT);

CREATE INDEX api_key_team ON api_key (team_id, id);

CREATE TABLE account (
    team_id TEXT NOT NULL PRIMARY KEY REFERENCES team (id),
    available BIGINT NOT NULL CHECK (available >= 0),
    reserved BIGINT NOT NULL CHECK (reserved >= 0),
    spent BIGINT NOT NULL CHECK (spent >= 0),
    granted BIGINT NOT NULL,
    CHECK (available + reserved + spent = granted)
);

CREATE TABLE ledger_transfer (
    key TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    api_key_id TEXT,
    kind TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    reservation TEXT,
    created_at TIMESTAMP NOT NULL
);

CREATE INDEX ledger_transfer_team ON ledger_transfer (team_id, key);

CREATE TABLE ledger_entry (
    transfer_key TEXT NOT NULL REFERENCES ledger_transfer (key),
    account TEXT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (transfer_key, account)
);

CREATE TABLE reservation (
    key TEXT NOT NULL PRIMARY KEY REFERENCES ledger_transfer (key),
    team_id TEXT NOT NULL REFERENCES team (id),
    api_key_id TEXT,
    amount BIGINT NOT NULL,
    posted BIGINT NOT NULL CHECK (posted >= 0),
    voided BIGINT NOT NULL CHECK (voided >= 0),
    is_open BOOLEAN NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    created_at TIMESTAMP NOT NULL,
    CHECK (posted + voided <= amount)
);

CREATE INDEX reservation_open ON reservation (expires_at) WHERE is_open;

CREATE TABLE usage_day (
    team_id TEXT NOT NULL REFERENCES team (id),
    day TEXT NOT NULL,
    api_key_id TEXT NOT NULL,
    credits BIGINT NOT NULL,
    PRIMARY KEY (team_id, day, api_key_id)
);

CREATE TABLE cache_entry (
    id TEXT NOT NULL PRIMARY KEY,
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
, in_row BOOLEAN NOT NULL DEFAULT FALSE, rendered BOOLEAN NOT NULL DEFAULT FALSE, etag TEXT, last_modified TEXT);

CREATE INDEX cache_entry_find ON cache_entry (scope, key, variant, fetched_at);

CREATE INDEX cache_entry_expiry ON cache_entry (expires_at);

CREATE TABLE scrape (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    api_key_id TEXT,
    url TEXT,
    status_code INTEGER,
    error_code TEXT,
    cache_state TEXT,
    credits BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL
, kept TEXT);

CREATE INDEX scrape_success ON scrape (team_id, created_at) WHERE error_code IS NULL;

CREATE INDEX scrape_age ON scrape (created_at);

CREATE TABLE lease (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at TIMESTAMP NOT NULL
);

CREATE TABLE job_lane (
    queue TEXT NOT NULL,
    lane TEXT NOT NULL,
    team_id TEXT NOT NULL,
    cap INTEGER NOT NULL CHECK (cap >= 0),
    delay_ms BIGINT NOT NULL,
    running INTEGER NOT NULL CHECK (running >= 0),
    due_at TIMESTAMP,
    served BIGINT NOT NULL,
    host TEXT,
    run_phase INTEGER NOT NULL,
    head_phase INTEGER,
    head_priority INTEGER,
    head_run_at TIMESTAMP, number BIGINT NOT NULL DEFAULT 0, waits BOOLEAN NOT NULL DEFAULT true,
    PRIMARY KEY (queue, lane)
);

CREATE INDEX job_lane_due ON job_lane (queue, team_id) WHERE due_at IS NOT NULL;

CREATE TABLE job_team (
    queue TEXT NOT NULL,
    team_id TEXT NOT NULL REFERENCES team (id),
    cap INTEGER NOT NULL CHECK (cap >= 0),
    running INTEGER NOT NULL CHECK (running >= 0),
    due_at TIMESTAMP,
    served BIGINT NOT NULL,
    was_idle BOOLEAN NOT NULL,
    PRIMARY KEY (queue, team_id)
);

CREATE INDEX job_team_due ON job_team (queue) WHERE due_at IS NOT NULL;

CREATE TABLE dead_job (
    id TEXT NOT NULL PRIMARY KEY,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    team_id TEXT NOT NULL,
    lane TEXT NOT NULL,
    cap INTEGER NOT NULL,
    delay_ms BIGINT NOT NULL,
    phase INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    host TEXT,
    payload TEXT NOT NULL,
    unique_key TEXT,
    created_at TIMESTAMP NOT NULL,
    error TEXT NOT NULL,
    died_at TIMESTAMP NOT NULL
);

CREATE INDEX dead_job_age ON dead_job (died_at);

CREATE TABLE host (
    name TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    crawl_delay_ms BIGINT,
    most INTEGER NOT NULL,
    queued_until TIMESTAMP,
    updated_at TIMESTAMP NOT NULL
);

CREATE INDEX host_age ON host (updated_at);

CREATE TABLE "run_page" (
    id TEXT NOT NULL PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES "run_progress" (run_id) ON DELETE CASCADE,
    key BLOB NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    state TEXT NOT NULL,
    code TEXT,
    error TEXT,
    finished_at TIMESTAMP, content BIGINT, parent TEXT, other TEXT,
    UNIQUE (run_id, key)
);

CREATE TABLE "run_document" (
    run_id TEXT NOT NULL REFERENCES "run_progress" (run_id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    page_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    site TEXT,
    url TEXT NOT NULL,
    title TEXT,
    description TEXT,
    bytes BIGINT NOT NULL,
    body BLOB,
    blob TEXT,
    PRIMARY KEY (run_id, seq)
);

CREATE TABLE crawl_family (
    run_id TEXT NOT NULL REFERENCES "run_progress" (run_id) ON DELETE CASCADE,
    hash BIGINT NOT NULL,
    known BIGINT NOT NULL,
    PRIMARY KEY (run_id, hash)
);

CREATE TABLE "crawl_template" (
    run_id TEXT NOT NULL REFERENCES "run_progress" (run_id) ON DELETE CASCADE,
    template BIGINT NOT NULL,
    hash BIGINT NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (run_id, template)
);

CREATE TABLE webhook_secret (
    team_id TEXT NOT NULL PRIMARY KEY REFERENCES team (id),
    secret TEXT NOT NULL,
    previous TEXT,
    previous_until TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    CHECK ((previous IS NULL) = (previous_until IS NULL))
);

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
, has_body BOOLEAN NOT NULL DEFAULT TRUE, body_bytes BIGINT NOT NULL DEFAULT 0, body_digest TEXT NOT NULL DEFAULT '');

CREATE INDEX webhook_delivery_team ON webhook_delivery (team_id, id);

CREATE INDEX webhook_delivery_state ON webhook_delivery (team_id, state, id);

CREATE INDEX webhook_delivery_age ON webhook_delivery (created_at);

CREATE TABLE robots (
    origin TEXT NOT NULL,
    verified BOOLEAN NOT NULL,
    status INTEGER,
    error TEXT,
    body BLOB,
    fetched_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    PRIMARY KEY (origin, verified)
);

CREATE INDEX robots_expiry ON robots (expires_at);

CREATE UNIQUE INDEX job_lane_number ON job_lane (number);

CREATE TABLE job (
    id TEXT NOT NULL PRIMARY KEY,
    lane BIGINT NOT NULL,
    phase INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    run_at TIMESTAMP NOT NULL,
    attempt INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    lease_until TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    kind TEXT NOT NULL,
    token TEXT,
    host TEXT,
    payload TEXT NOT NULL,
    unique_key TEXT,
    last_error TEXT,
    CHECK ((token IS NULL) = (lease_until IS NULL))
);

CREATE INDEX job_ready ON job (lane, phase, priority, run_at) WHERE token IS NULL;

CREATE INDEX job_running ON job (lane) WHERE token IS NOT NULL;

CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_key IS NOT NULL;

CREATE TABLE "run_secret" (
    run_id TEXT NOT NULL REFERENCES "run_progress" (run_id) ON DELETE CASCADE,
    page_id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, page_id)
);

CREATE TABLE "batch_piece" (
    run_id TEXT NOT NULL REFERENCES "run_progress" (run_id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    urls BLOB NOT NULL,
    PRIMARY KEY (run_id, seq)
);

CREATE TABLE "batch_append" (
    run_id TEXT NOT NULL REFERENCES "run_progress" (run_id) ON DELETE CASCADE,
    idempotency_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (run_id, idempotency_key)
);

CREATE INDEX webhook_delivery_body ON webhook_delivery (job_id) WHERE has_body;

CREATE TABLE unused_body (
    digest TEXT NOT NULL PRIMARY KEY,
    deleting BOOLEAN NOT NULL
);

CREATE INDEX cache_entry_body ON cache_entry (body_digest, body_bytes);

CREATE TABLE file_key (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    secret TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE file (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    blob TEXT NOT NULL,
    content_type TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL
);

CREATE INDEX file_expiry ON file (expires_at);

CREATE INDEX file_owner ON file (owner);

CREATE TABLE cache_body (
    digest TEXT NOT NULL PRIMARY KEY,
    packed BLOB NOT NULL
);

CREATE TABLE run (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    api_key_id TEXT,
    kind TEXT NOT NULL,
    subject TEXT,
    spec TEXT NOT NULL,
    private BOOLEAN NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'completed', 'failed', 'cancelled')),
    warning TEXT,
    error TEXT,
    idempotency_key TEXT,
    fingerprint TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    finished_at TIMESTAMP,
    expires_at TIMESTAMP NOT NULL
, address TEXT);

CREATE UNIQUE INDEX run_idempotency ON run (team_id, kind, idempotency_key);

CREATE INDEX run_active ON run (team_id, id) WHERE status = 'open';

CREATE INDEX run_expiry ON run (expires_at);

CREATE TABLE "run_progress" (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    is_open BOOLEAN NOT NULL,
    preparing BOOLEAN NOT NULL,
    max_items BIGINT NOT NULL CHECK (max_items >= 0),
    pending BIGINT NOT NULL CHECK (pending >= 0),
    done BIGINT NOT NULL CHECK (done >= 0),
    failed BIGINT NOT NULL CHECK (failed >= 0),
    spare BIGINT NOT NULL CHECK (spare >= 0),
    credits BIGINT NOT NULL,
    reservation TEXT,
    CHECK (pending + done <= max_items)
);

CREATE TABLE crawl (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    landed_url TEXT NOT NULL
);

CREATE INDEX run_page_listed ON run_page (run_id, state, id) WHERE state IN ('spare', 'failed', 'external', 'blocked');

CREATE INDEX run_document_site ON run_document (team_id, site);

CREATE INDEX run_document_blob ON run_document (blob) WHERE blob IS NOT NULL;

CREATE TABLE browser_session (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    scrape_id TEXT,
    owner TEXT NOT NULL,
    cdp_token TEXT NOT NULL,
    view_token TEXT NOT NULL,
    hand_token TEXT NOT NULL,
    is_watchable BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    alive_until TIMESTAMP NOT NULL,
    ended_at TIMESTAMP,
    credits BIGINT NOT NULL CHECK (credits >= 0)
, idempotency_key TEXT, fingerprint TEXT);

CREATE UNIQUE INDEX browser_session_scrape ON browser_session (scrape_id) WHERE ended_at IS NULL;

CREATE INDEX browser_session_alive ON browser_session (alive_until) WHERE ended_at IS NULL;

CREATE INDEX browser_session_team ON browser_session (team_id, created_at);

CREATE INDEX browser_session_age ON browser_session (created_at);

CREATE TABLE profile (
    team_id TEXT NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    state BLOB NOT NULL,
    saved_at TIMESTAMP NOT NULL,
    used_at TIMESTAMP NOT NULL,
    PRIMARY KEY (team_id, name)
);

CREATE INDEX profile_use ON profile (used_at);

CREATE INDEX scrape_page ON scrape (team_id, created_at) WHERE url IS NOT NULL;

CREATE INDEX scrape_file ON scrape (team_id, created_at) WHERE url IS NULL;

CREATE INDEX run_team ON run (team_id, created_at);

CREATE INDEX file_team ON file (team_id, kind, expires_at);

CREATE UNIQUE INDEX browser_session_idempotency ON browser_session (team_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE crawl_link (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    page_id TEXT NOT NULL,
    links BLOB NOT NULL,
    PRIMARY KEY (run_id, page_id)
);

CREATE INDEX run_page_waiting ON run_page (other) WHERE state = 'waiting';

CREATE TABLE page_version (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    key TEXT NOT NULL,
    tag TEXT NOT NULL,
    url TEXT NOT NULL,
    holder TEXT,
    held_until TIMESTAMP,
    used_at TIMESTAMP NOT NULL,
    scraped_at TIMESTAMP,
    status_code INTEGER NOT NULL,
    final_url TEXT NOT NULL,
    content_type TEXT,
    charset TEXT,
    rendered BOOLEAN NOT NULL,
    body_digest TEXT,
    body_bytes BIGINT NOT NULL,
    body_in_row BOOLEAN NOT NULL,
    text_digest TEXT,
    text_bytes BIGINT NOT NULL,
    text_in_row BOOLEAN NOT NULL,
    extraction TEXT,
    extraction_key TEXT,
    start TEXT,
    run_id TEXT
);

CREATE UNIQUE INDEX page_version_series ON page_version (team_id, key, tag);

CREATE INDEX page_version_use ON page_version (used_at);

CREATE INDEX page_version_start ON page_version (team_id, start, tag, id) WHERE start IS NOT NULL;

CREATE TABLE version_body (
    version_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    in_row BOOLEAN NOT NULL,
    coming BOOLEAN NOT NULL,
    PRIMARY KEY (version_id, digest, in_row)
);

CREATE INDEX version_body_digest ON version_body (digest);

CREATE INDEX version_body_coming ON version_body (version_id) WHERE coming;

CREATE TABLE periodic_task (
    name TEXT PRIMARY KEY NOT NULL,
    started_at TIMESTAMP NOT NULL,
    duration_ms BIGINT NOT NULL,
    status TEXT NOT NULL,
    details TEXT NOT NULL,
    error TEXT,
    next_at TIMESTAMP NOT NULL
);

CREATE TABLE search (
    id TEXT PRIMARY KEY NOT NULL,
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    api_key_id TEXT,
    query TEXT NOT NULL,
    sources TEXT NOT NULL,
    engines TEXT NOT NULL,
    results BIGINT NOT NULL,
    credits BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE INDEX search_team ON search (team_id, created_at);

CREATE INDEX search_age ON search (created_at);

CREATE TABLE feedback (
    id TEXT PRIMARY KEY NOT NULL,
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    job_id TEXT,
    endpoint TEXT NOT NULL,
    rating TEXT NOT NULL,
    content TEXT NOT NULL,
    credits BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE UNIQUE INDEX feedback_job ON feedback (team_id, job_id) WHERE job_id IS NOT NULL;

CREATE INDEX feedback_team ON feedback (team_id, created_at);

CREATE INDEX feedback_age ON feedback (created_at);

CREATE TABLE search_month (
    engine TEXT NOT NULL,
    month TEXT NOT NULL,
    requests BIGINT NOT NULL,
    PRIMARY KEY (engine, month)
);

CREATE TABLE monitor (
    id TEXT PRIMARY KEY NOT NULL,
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    api_key_id TEXT,
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
    cron TEXT NOT NULL,
    timezone TEXT NOT NULL,
    next_run_at TIMESTAMP,
    last_run_at TIMESTAMP,
    current_check_id TEXT,
    goal TEXT,
    judge_enabled BOOLEAN,
    webhook TEXT,
    notification TEXT,
    retention_days INTEGER NOT NULL,
    fires_per_month BIGINT NOT NULL,
    fires_counted_at TIMESTAMP NOT NULL,
    last_summary TEXT,
    withdrawals INTEGER NOT NULL,
    address TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    swept_at TIMESTAMP NOT NULL,
    revision BIGINT NOT NULL
);

CREATE INDEX monitor_team ON monitor (team_id, id);

CREATE INDEX monitor_due ON monitor (next_run_at) WHERE next_run_at IS NOT NULL;

CREATE INDEX monitor_sweep ON monitor (swept_at);

CREATE INDEX monitor_deleted ON monitor (id) WHERE status = 'deleted';

CREATE TABLE monitor_target (
    id TEXT PRIMARY KEY NOT NULL,
    monitor_id TEXT NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    spec TEXT NOT NULL,
    removed BOOLEAN NOT NULL
);

CREATE INDEX monitor_target_of ON monitor_target (monitor_id, position);

CREATE INDEX monitor_target_removed ON monitor_target (id) WHERE removed;

CREATE TABLE monitor_secret (
    monitor_id TEXT NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    part TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (monitor_id, part)
);

CREATE TABLE monitor_check (
    id TEXT PRIMARY KEY NOT NULL,
    monitor_id TEXT NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    team_id TEXT NOT NULL,
    api_key_id TEXT,
    status TEXT NOT NULL,
    cause TEXT NOT NULL CHECK (cause IN ('scheduled', 'manual')),
    scheduled_for TIMESTAMP,
    started_at TIMESTAMP,
    finished_at TIMESTAMP,
    progress_at TIMESTAMP,
    estimated_credits BIGINT,
    reserved_credits BIGINT,
    actual_credits BIGINT,
    billing_status TEXT NOT NULL,
    reservation TEXT,
    same_pages BIGINT NOT NULL,
    changed_pages BIGINT NOT NULL,
    new_pages BIGINT NOT NULL,
    removed_pages BIGINT NOT NULL,
    error_pages BIGINT NOT NULL,
    open_judgments BIGINT NOT NULL,
    notification TEXT,
    warning TEXT,
    error TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);

CREATE UNIQUE INDEX monitor_check_fire ON monitor_check (monitor_id, scheduled_for);

CREATE INDEX monitor_check_list ON monitor_check (monitor_id, created_at, id);

CREATE INDEX monitor_check_running ON monitor_check (progress_at) WHERE status = 'running';

CREATE INDEX monitor_check_open ON monitor_check (status) WHERE status IN ('queued', 'running');

CREATE TABLE monitor_check_target (
    check_id TEXT NOT NULL REFERENCES monitor_check (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    target_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    run_id TEXT,
    is_open BOOLEAN NOT NULL,
    result TEXT,
    PRIMARY KEY (check_id, position)
);

CREATE UNIQUE INDEX monitor_check_target_run ON monitor_check_target (run_id);

CREATE TABLE monitor_page (
    id TEXT PRIMARY KEY NOT NULL,
    check_id TEXT NOT NULL REFERENCES monitor_check (id) ON DELETE CASCADE,
    target_id TEXT NOT NULL,
    key TEXT NOT NULL,
    seq BIGINT NOT NULL,
    url TEXT NOT NULL,
    status TEXT NOT NULL,
    previous_scrape_id TEXT,
    current_scrape_id TEXT,
    status_code INTEGER,
    error TEXT,
    metadata TEXT,
    judgment TEXT,
    bytes BIGINT NOT NULL,
    content BLOB,
    created_at TIMESTAMP NOT NULL
);

CREATE UNIQUE INDEX monitor_page_once ON monitor_page (check_id, target_id, key);

CREATE INDEX monitor_page_list ON monitor_page (check_id, seq, id);

CREATE TABLE monitor_series (
    target_id TEXT NOT NULL,
    key TEXT NOT NULL,
    monitor_id TEXT NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('present', 'hidden', 'removed')),
    scrape_id TEXT,
    check_id TEXT NOT NULL,
    seen_at TIMESTAMP NOT NULL, memory BLOB,
    PRIMARY KEY (target_id, key)
);

CREATE INDEX monitor_series_of ON monitor_series (monitor_id);

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

CREATE TABLE monitor_mail (
    check_id TEXT NOT NULL REFERENCES monitor_check (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'skipped', 'failed')),
    error TEXT,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (check_id, address)
);

CREATE TABLE chat_channel (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('slack', 'json')),
    url TEXT NOT NULL
);

CREATE INDEX chat_channel_team ON chat_channel (team_id, position);

CREATE INDEX page_version_first ON page_version (id) WHERE status_code = 0;

INSERT INTO __diesel_schema_migrations (version) VALUES
('20261121000000'),
('20261121100000'),
('20261121110000'),
('20261121120000'),
('20261121130000'),
('20261122000000'),
('20261122010000'),
('20261122100000'),
('20261122140000'),
('20261122141000'),
('20261122200000'),
('20261122220000'),
('20261123000000'),
('20261123100000'),
('20261123120000'),
('20261125180000'),
('20261125190000'),
('20261125220000'),
('20261126020000'),
('20261126100000'),
('20261126130000'),
('20261126140000'),
('20261126200000'),
('20261126210000'),
('20261126230000'),
('20261127000000'),
('20261127030000'),
('20261127040000'),
('20261127080000'),
('20261127090000');
