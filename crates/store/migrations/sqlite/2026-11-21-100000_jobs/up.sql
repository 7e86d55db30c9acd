-- Jobs that are not done; finished jobs are deleted. Each new version of a row costs an entry in every index, so there
-- are few indexes, and the payload is text that no query looks into.
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
-- Without lease_until, so that a heartbeat updates no index.
CREATE INDEX job_running ON job (lane) WHERE state = 'running';
CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_key IS NOT NULL;

-- Lanes: a crawl, a batch, a webhook endpoint. due_at is the earliest time at which a job may be claimed. host is the
-- only host of its jobs so far, or * for several. run_phase is a lower bound of the phases of its running jobs.
-- head_phase, head_priority, head_run_at are a lower bound of its ready jobs in the order of job_ready: without it,
-- PostgreSQL would step over the index entries of removed jobs until the next vacuum. SQLite removes entries at once
-- and leaves the head empty.
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

-- Lock of a team's jobs and lanes in a queue. was_idle says whether the last enqueue found nothing due.
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

-- Politeness state of a host, as JSON. most is the limit of concurrent requests; starts are promised to waiting jobs up
-- to queued_until.
CREATE TABLE host (
    name TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    crawl_delay_ms BIGINT,
    most INTEGER NOT NULL,
    queued_until TIMESTAMP,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX host_age ON host (updated_at);
