-- Lanes get numbers by which jobs refer to them: an entry of the index of ready jobs has a few bytes instead of 110. A
-- job runs while it has a token. waits says whether ready jobs of a later phase existed when the lane was last looked
-- at.
ALTER TABLE job_lane ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job_lane ADD COLUMN waits BOOLEAN NOT NULL DEFAULT true;
UPDATE job_lane SET number = rowid;
CREATE UNIQUE INDEX job_lane_number ON job_lane (number);

DROP INDEX job_ready;
DROP INDEX job_running;
DROP INDEX job_unique;
ALTER TABLE job RENAME TO old_job;
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
INSERT INTO job
SELECT o.id, l.number, o.phase, o.priority, o.run_at, o.attempt, o.max_attempts, o.lease_until, o.created_at, o.kind,
    o.token, o.host, o.payload, o.unique_key, o.last_error
FROM old_job AS o JOIN job_lane AS l ON l.queue = o.queue AND l.lane = o.lane;
DROP TABLE old_job;
CREATE INDEX job_ready ON job (lane, phase, priority, run_at) WHERE token IS NULL;
-- Without lease_until, so that a heartbeat updates no index.
CREATE INDEX job_running ON job (lane) WHERE token IS NOT NULL;
CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_key IS NOT NULL;
