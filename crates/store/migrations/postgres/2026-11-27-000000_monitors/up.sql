-- Monitors: what a team has checked on a schedule. next_run_at is null while a monitor is paused; current_check_id is its
-- queued or running check. webhook and notification are JSON objects without secrets; last_summary has the counters of
-- the last check that ended. A deleted monitor stays, with this status, until its rows are removed in steps. withdrawals
-- counts its last checks in a row that were skipped because a partner has withdrawn its grant. revision grows with each
-- change by its team. address is that at which
-- the client reached the service.
CREATE TABLE monitor (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    api_key_id TEXT COLLATE "C",
    name TEXT NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
    cron TEXT COLLATE "C" NOT NULL,
    timezone TEXT COLLATE "C" NOT NULL,
    next_run_at TIMESTAMP,
    last_run_at TIMESTAMP,
    current_check_id TEXT COLLATE "C",
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

-- Targets of monitors, in the order of their positions. spec is the target as the client gave it, without id and secrets.
-- A removed target stays until its history is removed in steps.
CREATE TABLE monitor_target (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    monitor_id TEXT COLLATE "C" NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    spec TEXT NOT NULL,
    removed BOOLEAN NOT NULL
);
CREATE INDEX monitor_target_of ON monitor_target (monitor_id, position);
CREATE INDEX monitor_target_removed ON monitor_target (id) WHERE removed;

-- Secrets of a monitor, a JSON object for each part: the id of a target, or 'webhook'. No answer shows them.
CREATE TABLE monitor_secret (
    monitor_id TEXT COLLATE "C" NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    part TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (monitor_id, part)
);

-- Checks of monitors. cause: scheduled or manual. progress_at is the time at which a running check last got further.
-- reservation is the key of the one that pays for it, if its team has a balance.
CREATE TABLE monitor_check (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    monitor_id TEXT COLLATE "C" NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    team_id TEXT COLLATE "C" NOT NULL,
    api_key_id TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL,
    cause TEXT COLLATE "C" NOT NULL CHECK (cause IN ('scheduled', 'manual')),
    scheduled_for TIMESTAMP,
    started_at TIMESTAMP,
    finished_at TIMESTAMP,
    progress_at TIMESTAMP,
    estimated_credits BIGINT,
    reserved_credits BIGINT,
    actual_credits BIGINT,
    billing_status TEXT COLLATE "C" NOT NULL,
    reservation TEXT COLLATE "C",
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
-- A fire makes one check. Manual checks have no time, and any number of rows may.
CREATE UNIQUE INDEX monitor_check_fire ON monitor_check (monitor_id, scheduled_for);
CREATE INDEX monitor_check_list ON monitor_check (monitor_id, created_at, id);
CREATE INDEX monitor_check_running ON monitor_check (progress_at) WHERE status = 'running';
CREATE INDEX monitor_check_open ON monitor_check (status) WHERE status IN ('queued', 'running');

-- What a check does for each target: the run that reads its pages, if it has one, and the result, a JSON object.
CREATE TABLE monitor_check_target (
    check_id TEXT COLLATE "C" NOT NULL REFERENCES monitor_check (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    target_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C",
    is_open BOOLEAN NOT NULL,
    result TEXT,
    PRIMARY KEY (check_id, position)
);
CREATE UNIQUE INDEX monitor_check_target_run ON monitor_check_target (run_id);

-- Pages of checks, in the order of seq. metadata and judgment are JSON objects; content is a compressed JSON object with
-- diff and snapshot, of this many bytes before compression. key is that of the page's series.
CREATE TABLE monitor_page (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    check_id TEXT COLLATE "C" NOT NULL REFERENCES monitor_check (id) ON DELETE CASCADE,
    target_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    previous_scrape_id TEXT COLLATE "C",
    current_scrape_id TEXT COLLATE "C",
    status_code INTEGER,
    error TEXT,
    metadata TEXT,
    judgment TEXT,
    bytes BIGINT NOT NULL,
    content BYTEA,
    created_at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX monitor_page_once ON monitor_page (check_id, target_id, key);
CREATE INDEX monitor_page_list ON monitor_page (check_id, seq, id);

-- What a target knows of a page or a search result: one row for each address, with its last state. The content of a page is
-- a row of page_version with the same key and a tag of the target.
CREATE TABLE monitor_series (
    target_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    monitor_id TEXT COLLATE "C" NOT NULL REFERENCES monitor (id) ON DELETE CASCADE,
    url TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('present', 'hidden', 'removed')),
    scrape_id TEXT COLLATE "C",
    check_id TEXT COLLATE "C" NOT NULL,
    seen_at TIMESTAMP NOT NULL,
    PRIMARY KEY (target_id, key)
);
CREATE INDEX monitor_series_of ON monitor_series (monitor_id);

-- Limit of monitors of a team, in place of the common one; 0: none allowed. partner_grant: whether a partner pays for the
-- work of the team; null if there is no partner.
ALTER TABLE team ADD COLUMN max_monitors INTEGER CHECK (max_monitors >= 0);
ALTER TABLE team ADD COLUMN partner_grant TEXT CHECK (partner_grant IN ('active', 'withdrawn'));
