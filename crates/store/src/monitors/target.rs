//! Targets of monitors.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::monitor_target;
use crate::sql::{Prepared, filled};

/// Target of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = monitor_target)]
pub struct Target {
    /// Id, a UUID.
    pub id: String,
    /// Id of the monitor.
    pub monitor_id: String,
    /// Position among the targets of the monitor, from 0.
    pub position: i32,
    /// Kind: `scrape`, `crawl` or `search`.
    pub kind: String,
    /// Target as a JSON object, without its id and its secrets.
    pub spec: String,
}

/// Adds targets.
pub(super) async fn insert(conn: &mut Conn, targets: &[Target]) -> Result<()> {
    for target in targets {
        let values = (
            monitor_target::id.eq(&target.id),
            monitor_target::monitor_id.eq(&target.monitor_id),
            monitor_target::position.eq(target.position),
            monitor_target::kind.eq(&target.kind),
            monitor_target::spec.eq(&target.spec),
            monitor_target::removed.eq(false),
        );
        on!(conn, |c| diesel::insert_into(monitor_target::table).values(values).execute(c).await)?;
    }
    Ok(())
}

/// Returns the targets of monitors, by monitor and position.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn targets(conn: &mut Conn, monitors: &[&str]) -> Result<Vec<Target>> {
    let query = monitor_target::table
        .filter(monitor_target::monitor_id.eq_any(filled(monitors)))
        .filter(monitor_target::removed.eq(false))
        .order((monitor_target::monitor_id, monitor_target::position));
    Ok(on!(conn, |c| Prepared(query.select(Target::as_select())).load(c).await)?)
}

/// Replaces the targets of a monitor, which must be locked. Those with the id of a present one keep their history; the
/// history of the others is removed by [`erase`](super::erase).
///
/// # Errors
/// Those of the database, also when an id belongs to another monitor; the transaction has to be rolled back then.
#[crate::boxed]
pub async fn replace_targets(conn: &mut Conn, monitor: &str, targets: &[Target]) -> Result<()> {
    let present = monitor_target::table
        .filter(monitor_target::monitor_id.eq(monitor))
        .filter(monitor_target::removed.eq(false))
        .select(monitor_target::id);
    let present: Vec<String> = on!(conn, |c| present.load(c).await)?;
    let gone: Vec<&String> = present.iter().filter(|id| targets.iter().all(|target| target.id != **id)).collect();
    let remove = diesel::update(monitor_target::table.filter(monitor_target::id.eq_any(gone)));
    on!(conn, |c| remove.set(monitor_target::removed.eq(true)).execute(c).await)?;
    let (kept, new): (Vec<Target>, Vec<Target>) =
        targets.iter().cloned().partition(|target| present.contains(&target.id));
    for target in kept {
        let set = (
            monitor_target::position.eq(target.position),
            monitor_target::kind.eq(&target.kind),
            monitor_target::spec.eq(&target.spec),
        );
        on!(conn, |c| diesel::update(monitor_target::table.find(&target.id)).set(set).execute(c).await)?;
    }
    insert(conn, &new).await
}
