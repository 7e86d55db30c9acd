//! Minimal SQL that enqueues, claims and removes jobs, without teams, limits, fairness or hosts.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{db, sh};

/// Work to measure.
#[derive(Clone, Copy)]
pub(crate) enum QueueWork {
    /// Adds 100 jobs in a transaction.
    Enqueue,
    /// Claims some jobs in one transaction and removes them in another.
    Cycle,
}

/// pgbench on a database with its own table.
#[derive(Default)]
pub(crate) struct Pgbench {
    programs: PathBuf,
    url: String,
}

const TABLE: &str = "CREATE TABLE ref_job (id bigserial PRIMARY KEY, queue text NOT NULL, state text NOT NULL,
    run_at timestamptz NOT NULL, attempt int NOT NULL, lease_until timestamptz, payload text NOT NULL);
    CREATE INDEX ref_ready ON ref_job (queue, run_at, id) WHERE state = 'ready';";

const ENQUEUE: &str = "INSERT INTO ref_job (queue, state, run_at, attempt, payload)
    SELECT 'pages', 'ready', now(), 0, repeat('x', 300) FROM generate_series(1, 100);";

const CYCLE: &str = "WITH c AS (UPDATE ref_job SET state = 'running', attempt = attempt + 1,
    lease_until = now() + interval '60 s' WHERE id IN (SELECT id FROM ref_job WHERE queue = 'pages' AND state = 'ready'
    AND run_at <= now() ORDER BY run_at, id LIMIT 50 FOR UPDATE SKIP LOCKED) RETURNING id, payload)
    SELECT array_agg(id)::text AS ids, max(payload) AS payload FROM c \\gset
DELETE FROM ref_job WHERE id = ANY(:ids::bigint[]);";

impl Pgbench {
    /// Creates the table.
    pub(crate) fn prepare(url: &str) -> Result<Self> {
        let programs = db::binaries().context("PostgreSQL is not installed; run cargo xtask setup")?;
        let pgbench = Self { programs, url: url.to_owned() };
        pgbench.sql(TABLE)?;
        Ok(pgbench)
    }

    /// Adds ready jobs.
    pub(crate) fn fill(&self, jobs: usize) -> Result<()> {
        self.sql(&ENQUEUE.replace("100);", &format!("{jobs});")))
    }

    /// Runs VACUUM ANALYZE and a checkpoint, so that all measurements begin with fresh statistics and no dirty pages.
    pub(crate) fn settle(&self) -> Result<()> {
        self.sql("VACUUM ANALYZE")?;
        self.sql("CHECKPOINT")
    }

    /// Returns jobs per second.
    pub(crate) fn rate(&self, work: QueueWork, seconds: usize) -> Result<f64> {
        let (script, clients, jobs) = match work {
            QueueWork::Enqueue => (ENQUEUE, "2", 100.0),
            QueueWork::Cycle => (CYCLE, "4", 50.0),
        };
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("script.sql");
        fs::write(&file, format!("{}\n", script.replace("\n    ", " ")))?;
        let mut command = Command::new(self.programs.join("pgbench"));
        command.args(["-n", "-M", "prepared", "-j", "2", "-c", clients, "-T", &seconds.to_string(), "-f"]);
        let out = sh::output(command.arg(&file).arg(&self.url))?;
        let tps =
            out.lines().find_map(|line| line.strip_prefix("tps = ")?.split_whitespace().next()?.parse::<f64>().ok());
        Ok(tps.with_context(|| format!("no rate in {out}"))? * jobs)
    }

    fn sql(&self, text: &str) -> Result<()> {
        sh::output(Command::new(self.programs.join("psql")).args(["-q", "-c", text, &self.url])).map(drop)
    }
}

/// Returns jobs per second of the sqlite3 shell, 100 in a transaction, with the settings of the service.
pub(crate) fn sqlite(folder: &Path, work: QueueWork) -> Result<f64> {
    if !sh::on_path("sqlite3") {
        bail!("the sqlite3 shell is not installed");
    }
    /// Large enough for the startup time of the shell to be negligible.
    const ROUNDS: usize = 3000;
    let (file, script) = (folder.join("plain.db"), folder.join("script.sql"));
    let _ = fs::remove_file(&file);
    let add = "INSERT INTO ref_job (queue, state, run_at, attempt, payload) SELECT 'pages', 'ready', '2026-01-01', 0,
        printf('%.300c', 'x') FROM generate_series(1, 100);";
    let mut text = String::from("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    text +=
        "CREATE TABLE ref_job (id INTEGER PRIMARY KEY, queue TEXT NOT NULL, state TEXT NOT NULL, run_at TEXT NOT NULL,
        attempt INTEGER NOT NULL, lease_until TEXT, payload TEXT NOT NULL);
        CREATE INDEX ref_ready ON ref_job (queue, run_at, id) WHERE state = 'ready';";
    if matches!(work, QueueWork::Cycle) {
        text += &add.replace("100);", &format!("{});", ROUNDS * 100));
    }
    run(&file, &script, &text)?;
    let mut text = String::from("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; SELECT 1; COMMIT;\n");
    for round in 0..ROUNDS {
        match work {
            QueueWork::Enqueue => writeln!(text, "BEGIN IMMEDIATE; {add} COMMIT;")?,
            QueueWork::Cycle => writeln!(
                text,
                "BEGIN IMMEDIATE; UPDATE ref_job SET state = 'running', attempt = attempt + 1, lease_until = '2026-01-02'
                WHERE id IN (SELECT id FROM ref_job WHERE queue = 'pages' AND state = 'ready' AND run_at <= '2026-01-02'
                ORDER BY run_at, id LIMIT 100) RETURNING id, payload; COMMIT;
                BEGIN IMMEDIATE; DELETE FROM ref_job WHERE id BETWEEN {} AND {}; COMMIT;",
                round * 100 + 1,
                round * 100 + 100,
            )?,
        }
    }
    let before = Instant::now();
    run(&file, &script, &text)?;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let jobs = (ROUNDS * 100) as f64;
    Ok(jobs / before.elapsed().as_secs_f64())
}

fn run(file: &Path, script: &Path, text: &str) -> Result<()> {
    fs::write(script, text)?;
    let mut command = Command::new("sqlite3");
    sh::run(command.arg("-bail").arg(file).stdin(File::open(script)?).stdout(Stdio::null()))
}
