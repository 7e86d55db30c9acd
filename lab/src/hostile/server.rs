//! The real service as a child process in a data folder of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::http;
use super::stage::Stage;

const ADMIN_TOKEN: &str = "operator-token-of-the-hostile-run";
const START_LIMIT: Duration = Duration::from_secs(20);
/// The working folder of the service, below the folder of the run.
const HOME: &str = "a/b/c/d";
/// `USER_HZ`, which is 100 on every Linux that the runner knows.
const TICKS_PER_SECOND: f64 = 100.0;

/// How a server differs from the usual one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Flavour {
    /// `log.level`; none for the default.
    pub(crate) log_level: Option<String>,
    /// A fail point that panics, or does what stands behind its `=`.
    pub(crate) fail_point: Option<String>,
    /// Settings, such as `auth.mode`.
    pub(crate) settings: BTreeMap<String, String>,
}

/// A team of the service.
pub(crate) struct Team {
    pub(crate) key: String,
    pub(crate) id: String,
}

/// A running service.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) flavour: Flavour,
    /// Key of the team that calls.
    pub(crate) key: String,
    team_id: String,
    /// Key of a team that has nothing to do with it.
    pub(crate) other_key: String,
    child: Child,
    pid: u32,
    dir: TempDir,
}

impl Server {
    /// Starts it, waits until it is ready, and makes two teams.
    pub(crate) async fn start(binary: &Path, stage: &Stage, flavour: Flavour) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let addr = free_address()?;
        let log = File::create(dir.path().join("log"))?;
        // Some folders deep, so that what climbs out of one is still in a folder that is looked through.
        let home = dir.path().join(HOME);
        std::fs::create_dir_all(home.join("tmp"))?;
        let mut command = Command::new(binary);
        command.env("HOME", &home).env("TMPDIR", home.join("tmp"));
        command.current_dir(&home).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        command.env("QUARRY__SERVER__LISTEN", addr.to_string());
        command.env("QUARRY__DATA__DIR", home.join("data"));
        command.env("QUARRY__AUTH__MODE", "keys");
        command.env("QUARRY__ADMIN__TOKEN", ADMIN_TOKEN);
        command.env("QUARRY__EGRESS__ALLOW", stage.allow());
        command.env("QUARRY__EGRESS__RESOLVERS", stage.dns.addr().to_string());
        if let Some(level) = &flavour.log_level {
            command.env("QUARRY__LOG__LEVEL", level);
        }
        if let Some(point) = &flavour.fail_point {
            let point = if point.contains('=') { point.clone() } else { format!("{point}=panic") };
            command.env("FAILPOINTS", point);
        }
        for (key, value) in &flavour.settings {
            command.env(format!("QUARRY__{}", key.to_uppercase().replace('.', "__")), value);
        }
        let child = command.spawn().with_context(|| format!("cannot start {}", binary.display()))?;
        let pid = child.id().context("the server ended at once")?;
        let [key, team_id, other_key] = [(); 3].map(|()| String::new());
        let mut server = Self { addr, flavour, key, team_id, other_key, child, pid, dir };
        server.wait_until_ready().await?;
        let team = server.new_team(&json!({"name": "hostile", "credits": 1_000_000})).await?;
        (server.key, server.team_id) = (team.key, team.id);
        server.other_key = server.team(&json!({"name": "bystander", "credits": 1_000_000})).await?;
        Ok(server)
    }

    /// Makes a team and returns its key.
    pub(crate) async fn team(&self, team: &Value) -> Result<String> {
        Ok(self.new_team(team).await?.key)
    }

    /// Makes a team.
    pub(crate) async fn new_team(&self, team: &Value) -> Result<Team> {
        let operator = format!("Authorization: Bearer {ADMIN_TOKEN}\r\n");
        let answer = http::post(self.addr, "/admin/teams", &operator, team).await?;
        ensure!(answer.status == 200, "POST /admin/teams answers {}: {}", answer.status, answer.text());
        let text = |key: &str| answer.json()[key].as_str().map(str::to_owned);
        let (Some(key), Some(id)) = (text("apiKey"), text("teamId")) else {
            bail!("POST /admin/teams gives no apiKey or no teamId: {}", answer.text())
        };
        Ok(Team { key, id })
    }

    /// A GET of the operator, as JSON.
    pub(crate) async fn operator_get(&self, path: &str) -> Result<Value> {
        self.get(path, ADMIN_TOKEN).await
    }

    /// A GET with a team's key, as JSON.
    pub(crate) async fn get(&self, path: &str, key: &str) -> Result<Value> {
        let answer = http::get(self.addr, path, &format!("Authorization: Bearer {key}\r\n")).await?;
        ensure!(answer.status == 200, "GET {path} answers {}: {}", answer.status, answer.text());
        Ok(answer.json())
    }

    /// What GET /metrics shows the operator.
    pub(crate) async fn metrics(&self) -> Result<Vec<u8>> {
        let operator = format!("Authorization: Bearer {ADMIN_TOKEN}\r\n");
        let answer = http::get(self.addr, "/metrics", &operator).await?;
        ensure!(answer.status == 200, "GET /metrics answers {}: {}", answer.status, answer.text());
        Ok(answer.body)
    }

    /// What the webhooks of the team that calls are signed with.
    pub(crate) async fn hook_secret(&self) -> Result<String> {
        let secret = self.operator_get(&format!("/admin/teams/{}/webhook-secret", self.team_id)).await?;
        secret["data"]["secret"].as_str().map(str::to_owned).with_context(|| format!("no secret in {secret}"))
    }

    /// Credits that the team has left.
    pub(crate) async fn credits(&self, key: &str) -> Result<i64> {
        let usage = self.get("/v2/team/credit-usage", key).await?;
        usage["data"]["remainingCredits"].as_i64().with_context(|| format!("no remainingCredits in {usage}"))
    }

    /// Everything that no log may hold: keys of teams and of the operator.
    pub(crate) fn secrets(&self) -> [&str; 3] {
        [&self.key, &self.other_key, ADMIN_TOKEN]
    }

    /// Whether the process runs and GET /health answers 200 within a second.
    pub(crate) async fn is_alive(&mut self) -> bool {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return false;
        }
        let health = tokio::time::timeout(Duration::from_secs(1), http::get(self.addr, "/health", ""));
        matches!(health.await, Ok(Ok(answer)) if answer.status == 200)
    }

    /// The log so far.
    pub(crate) fn log(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("log")).unwrap_or_default()
    }

    /// Where the service keeps its files.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join(HOME).join("data")
    }

    /// Files that the service has made outside of its data folder.
    pub(crate) fn strays(&self) -> Vec<String> {
        let mut found = Vec::new();
        files_below(self.dir.path(), &self.data(), &mut found);
        let log = self.dir.path().join("log");
        found.into_iter().filter(|path| *path != log).map(|path| path.display().to_string()).collect()
    }

    /// Seconds of processor time that the service has used.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        // Behind the name of the program, which may hold blanks: state, ten more, then utime and stime (proc(5)).
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
        ticks / TICKS_PER_SECOND
    }

    /// Watches the memory until the watch is finished.
    pub(crate) fn watch_memory(&self) -> MemoryWatch {
        MemoryWatch::start(self.pid)
    }

    /// Sends SIGTERM, waits for the end, and returns the exit code; none when a signal ended it.
    pub(crate) async fn terminate(&mut self, patience: Duration) -> Result<Option<i32>> {
        let sent = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status().await?;
        ensure!(sent.success(), "cannot send SIGTERM");
        let ended = tokio::time::timeout(patience, self.child.wait()).await;
        Ok(ended.with_context(|| format!("still running {} s after SIGTERM", patience.as_secs()))??.code())
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < START_LIMIT {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended with {status}: {}", String::from_utf8_lossy(&self.log()));
            }
            if http::get(self.addr, "/health/ready", "").await.is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bail!("the server is not ready after {} s: {}", START_LIMIT.as_secs(), String::from_utf8_lossy(&self.log()))
    }
}

/// Watches the resident memory of a process: the system's own high-water mark, which misses nothing but may not be
/// resettable, and samples.
pub(crate) struct MemoryWatch {
    pid: u32,
    before: u64,
    marked: bool,
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl MemoryWatch {
    /// Watches from now on.
    pub(crate) fn start(pid: u32) -> Self {
        // Writing 5 sets VmHWM to the present VmRSS (proc(5)).
        let marked = std::fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok();
        let before = status_kib(pid, "VmRSS:");
        let (peak, stop) = (Arc::new(AtomicU64::new(before)), Arc::new(AtomicBool::new(false)));
        let (shared_peak, shared_stop) = (Arc::clone(&peak), Arc::clone(&stop));
        // A thread of its own, so that a busy runtime does not make it miss a peak.
        let task = tokio::task::spawn_blocking(move || {
            while !shared_stop.load(Ordering::Relaxed) {
                shared_peak.fetch_max(status_kib(pid, "VmRSS:"), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        Self { pid, before, marked, peak, stop, task }
    }

    /// By how many MiB the memory has grown at its peak.
    pub(crate) async fn finish(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.task.await;
        let mark = if self.marked { status_kib(self.pid, "VmHWM:") } else { 0 };
        let peak = self.peak.load(Ordering::Relaxed).max(mark);
        peak.saturating_sub(self.before).div_ceil(1024)
    }
}

fn files_below(folder: &Path, except: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && path != except {
            files_below(&path, except, into);
        } else if path != except {
            into.push(path);
        }
    }
}

fn status_kib(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn free_address() -> Result<SocketAddr> {
    Ok(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
