DROP TABLE host;
DROP TABLE dead_job;
DROP TABLE job_team;
DROP TABLE job_lane;
DROP TABLE job;
