-- Work that is not done yet; what is done leaves the table. Each new version of a row costs an entry in every index, so
-- there are few, and the payload is text: nothing here looks into it.
CREATE TABLE job (
    id TEXT NOT NULL PRIMARY KEY,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    team_id TEXT NOT NULL,
    lane TEXT NOT NULL,
    phase INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('ready', 'running')),
    run_at TIMESTAMP NOT NULL,
    attempt INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    token TEXT,
    lease_until TIMESTAMP,
    host TEXT,
    payload TEXT NOT NULL,
    unique_key TEXT,
    last_error TEXT,
    created_at TIMESTAMP NOT NULL,
    CHECK ((state = 'running') = (token IS NOT NULL AND lease_until IS NOT NULL))
);
CREATE INDEX job_ready ON job (queue, lane, phase, priority, run_at, id) WHERE state = 'ready';
-- Without lease_until, so that a heartbeat changes no index.
CREATE INDEX job_running ON job (lane) WHERE state = 'running';
CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_key IS NOT NULL;

-- A crawl, a batch, an endpoint. due_at is the earliest time at which there may be something to claim; host is the only
-- host of its jobs so far, or * for several. run_phase is a lower bound of the phases of its running jobs. No ready job
-- comes before head_phase, head_priority, head_run_at in job_ready: PostgreSQL would else have to step over all those that
-- are gone, again and again until the next vacuum. SQLite removes them at once and leaves the head empty.
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
    head_run_at TIMESTAMP,
    PRIMARY KEY (queue, lane)
);
-- Without served: it changes with each claim, and few lanes of a team are due.
CREATE INDEX job_lane_due ON job_lane (queue, team_id) WHERE due_at IS NOT NULL;

-- The lock under which a team's jobs and lanes change. was_idle says whether the last enqueue found nothing due.
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

-- What is known of a host that is crawled, as JSON; most is how many requests to it may run at a time; up to
-- queued_until, starts are promised to jobs that had to wait.
CREATE TABLE host (
    name TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    crawl_delay_ms BIGINT,
    most INTEGER NOT NULL,
    queued_until TIMESTAMP,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX host_age ON host (updated_at);
