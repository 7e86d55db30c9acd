-- Finished searches, one row each, for feedback on them. Searches with zero data retention leave no row. sources are
-- words separated by spaces; engines are the names of those whose results were used.
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

-- Feedback on a call, once for each call and team. job_id is the id of the call as the client gave it, which need not be
-- known here; feedback on the catalog of tools has none. content is a JSON object; credits were given back.
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
