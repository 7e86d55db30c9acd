//! The real service, with two teams.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use client::Client;
use http::Method;
use lab::{Installation, MemoryWatch, Node, Tree, service};
use serde_json::Value;

use super::stage::Stage;
use crate::team::{OPERATOR, Team};

/// Differences of a server from the default one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Flavour {
    /// `log.level`; `None` for the default.
    pub(crate) log_level: Option<String>,
    /// Fail point that panics, or runs the action after its `=`.
    pub(crate) fail_point: Option<String>,
    /// Additional settings, such as `auth.mode`.
    pub(crate) settings: BTreeMap<String, String>,
}

/// A running service.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) flavour: Flavour,
    /// Calling team.
    pub(crate) team: Team,
    /// Uninvolved team.
    pub(crate) other: Team,
    node: Node,
    installation: Installation,
}

impl Server {
    /// Starts the service, waits until it is ready, and creates two teams.
    pub(crate) async fn start(binary: &Path, stage: &Stage, flavour: Flavour) -> Result<Self> {
        let mut installation = Installation::new(binary.to_owned())?
            .set("auth.mode", "keys")
            .set("admin.token", OPERATOR)
            .set("egress.allow", stage.allow())
            .set("egress.resolvers", stage.dns.addr().to_string());
        if let Some(level) = &flavour.log_level {
            installation = installation.set("log.level", level);
        }
        if let Some(point) = &flavour.fail_point {
            let point = if point.contains('=') { point.clone() } else { format!("{point}=panic") };
            installation = installation.env("FAILPOINTS", point);
        }
        for (key, value) in &flavour.settings {
            installation = installation.set(key, value);
        }
        let node = installation.server()?;
        let addr = node.addr();
        let team = Team::new(addr, "hostile", 1_000_000).await?;
        let other = Team::new(addr, "bystander", 1_000_000).await?;
        Ok(Self { addr, flavour, team, other, node, installation })
    }

    /// Creates a team by the body of `POST /admin/teams`.
    pub(crate) async fn new_team(&self, team: &Value) -> Result<Team> {
        Team::with(self.addr, team).await
    }

    /// Returns a client with a team's key.
    pub(crate) fn client(&self, key: &str) -> Result<Client> {
        Ok(service::client(self.addr, Some(key))?)
    }

    /// Sends a GET of the operator and returns the JSON.
    pub(crate) async fn operator_get(&self, path: &str) -> Result<Value> {
        self.get(path, OPERATOR).await
    }

    /// Sends a GET with a team's key and returns the JSON.
    pub(crate) async fn get(&self, path: &str, key: &str) -> Result<Value> {
        let answer = self.client(key)?.send(Method::GET, path, "").await?;
        ensure!(answer.status == 200, "GET {path} answers {}: {}", answer.status, answer.text());
        Ok(answer.json())
    }

    /// Sends a POST with a team's key, which must succeed, and returns the JSON.
    pub(crate) async fn post(&self, path: &str, key: &str, body: &Value) -> Result<Value> {
        let answer = self.client(key)?.send(Method::POST, path, body.to_string()).await?;
        ensure!(answer.status == 200, "POST {path} answers {}: {}", answer.status, answer.text());
        Ok(answer.json())
    }

    /// Returns the operator's GET /metrics.
    pub(crate) async fn metrics(&self) -> Result<Vec<u8>> {
        let answer = self.client(OPERATOR)?.send(Method::GET, "/metrics", "").await?;
        ensure!(answer.status == 200, "GET /metrics answers {}: {}", answer.status, answer.text());
        Ok(answer.body.to_vec())
    }

    /// Returns the webhook signing secret of the calling team.
    pub(crate) async fn hook_secret(&self) -> Result<String> {
        let secret = self.operator_get(&format!("/admin/teams/{}/webhook-secret", self.team.id)).await?;
        secret["data"]["secret"].as_str().map(str::to_owned).with_context(|| format!("no secret in {secret}"))
    }

    /// Returns the remaining credits of the team.
    pub(crate) async fn credits(&self, key: &str) -> Result<i64> {
        Ok(self.client(key)?.usage().await?.remaining_credits)
    }

    /// Returns the keys of the teams and of the operator, which must not appear in logs.
    pub(crate) fn secrets(&self) -> [&str; 3] {
        [&self.team.key, &self.other.key, OPERATOR]
    }

    /// Whether the process runs and GET /health answers 200 within a second.
    pub(crate) async fn is_alive(&mut self) -> bool {
        let health = tokio::time::timeout(Duration::from_secs(1), service::is_healthy(self.addr));
        self.node.is_running() && health.await.unwrap_or(false)
    }

    /// Returns the log so far.
    pub(crate) fn log(&self) -> Vec<u8> {
        self.installation.log()
    }

    /// Returns the data folder of the service.
    pub(crate) fn data(&self) -> PathBuf {
        self.installation.data()
    }

    /// Returns files that the service has created outside of its data folder.
    pub(crate) fn strays(&self) -> Vec<String> {
        self.installation.strays().into_iter().map(|path| path.display().to_string()).collect()
    }

    /// Returns the processor time of the service in seconds.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.node.cpu().unwrap_or_default().as_secs_f64()
    }

    /// Starts a watch on the memory of the service.
    pub(crate) fn watch_memory(&self) -> MemoryWatch {
        self.node.watch_memory()
    }

    /// Starts a watch on the memory of the service and its descendants.
    pub(crate) fn watch_tree(&self) -> MemoryWatch {
        self.node.watch_tree()
    }

    /// Returns the process tree of the service.
    pub(crate) fn tree(&self) -> Result<Tree> {
        self.node.tree()
    }

    /// Sends SIGTERM, waits for the end, and returns the exit code; `None` if a signal ended the process.
    pub(crate) async fn terminate(&mut self, patience: Duration) -> Result<Option<i32>> {
        self.node.terminate()?;
        let ended = self.node.ended(patience).await;
        Ok(ended.with_context(|| format!("still running {} s after SIGTERM", patience.as_secs()))?.code())
    }
}
