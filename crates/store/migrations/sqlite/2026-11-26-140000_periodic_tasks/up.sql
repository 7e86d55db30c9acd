-- Last run of each periodic task, whichever process ran it. details is a JSON object; error is set if the run failed.
CREATE TABLE periodic_task (
    name TEXT PRIMARY KEY NOT NULL,
    started_at TIMESTAMP NOT NULL,
    duration_ms BIGINT NOT NULL,
    status TEXT NOT NULL,
    details TEXT NOT NULL,
    error TEXT,
    next_at TIMESTAMP NOT NULL
);
