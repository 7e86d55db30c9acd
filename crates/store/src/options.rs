//! Options of the connection pool, and its load.

use std::time::Duration;

/// Options of the connection pool.
#[derive(Debug, Clone)]
pub struct Options {
    /// Size of the pool. Default: 16 for PostgreSQL, 4 for SQLite in addition to the writing connection.
    pub connections: Option<u32>,
    /// Timeout of [`Store::conn`](crate::Store::conn) for a free connection.
    pub wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { connections: None, wait: Duration::from_secs(10) }
    }
}

/// Load of one kind of connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolLoad {
    /// Connections in use.
    pub in_use: u32,
    /// Idle connections.
    pub idle: u32,
    /// Callers that wait for a connection.
    pub waiting: u64,
}

impl PoolLoad {
    pub(crate) fn of(state: &bb8::State) -> Self {
        let idle = state.idle_connections;
        let waiting = state.statistics.get_started.saturating_sub(state.statistics.completed_gets());
        Self { in_use: state.connections.saturating_sub(idle), idle, waiting }
    }
}
