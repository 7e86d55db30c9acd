DROP INDEX job_ready;
DROP INDEX job_running;
DROP INDEX job_unique;
ALTER TABLE job RENAME TO new_job;
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
INSERT INTO job
SELECT n.id, l.queue, n.kind, l.team_id, l.lane, n.phase, n.priority,
    CASE WHEN n.token IS NULL THEN 'ready' ELSE 'running' END, n.run_at, n.attempt, n.max_attempts, n.token,
    n.lease_until, n.host, n.payload, n.unique_key, n.last_error, n.created_at
FROM new_job AS n JOIN job_lane AS l ON l.number = n.lane;
DROP TABLE new_job;
CREATE INDEX job_ready ON job (queue, lane, phase, priority, run_at, id) WHERE state = 'ready';
CREATE INDEX job_running ON job (lane) WHERE state = 'running';
CREATE UNIQUE INDEX job_unique ON job (unique_key) WHERE unique_key IS NOT NULL;

DROP INDEX job_lane_number;
ALTER TABLE job_lane DROP COLUMN number;
ALTER TABLE job_lane DROP COLUMN waits;
