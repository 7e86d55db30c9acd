-- Channels that are told of the checks of a team's monitors, in the order of position. url is a secret: who has it can
-- write in the channel.
CREATE TABLE chat_channel (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('slack', 'json')),
    url TEXT NOT NULL
);
CREATE INDEX chat_channel_team ON chat_channel (team_id, position);
