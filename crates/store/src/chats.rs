//! Chat channels of teams, which are told of the checks of their monitors.

use base::Secret;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::chat_channel;
use crate::teams;

/// Channel of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatChannel {
    /// Id, random. A channel keeps it as long as its URL stays.
    pub id: String,
    /// Form of its messages: `slack` or `json`.
    pub kind: String,
    /// URL that messages are sent to. Who has it can write in the channel.
    pub url: Secret,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = chat_channel)]
struct Row {
    id: String,
    kind: String,
    url: String,
}

impl From<Row> for ChatChannel {
    fn from(row: Row) -> Self {
        Self { id: row.id, kind: row.kind, url: Secret::new(row.url) }
    }
}

/// Returns the channels of a team, in their order.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn of_team(conn: &mut Conn, team: &str) -> Result<Vec<ChatChannel>> {
    let query = chat_channel::table.filter(chat_channel::team_id.eq(team)).order(chat_channel::position);
    let rows: Vec<Row> = on!(conn, |c| query.select(Row::as_select()).load(c).await)?;
    Ok(rows.into_iter().map(ChatChannel::from).collect())
}

/// Returns a channel of a team; `None` if it was removed.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn find(conn: &mut Conn, team: &str, id: &str) -> Result<Option<ChatChannel>> {
    let query = chat_channel::table.find(id).filter(chat_channel::team_id.eq(team));
    let row: Option<Row> = on!(conn, |c| query.select(Row::as_select()).get_result(c).await.optional())?;
    Ok(row.map(ChatChannel::from))
}

/// Returns the channels of a team like [`of_team`], and locks them until the transaction ends.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn lock(conn: &mut Conn, id: &str) -> Result<Vec<ChatChannel>> {
    // A team without channels has no row of theirs, so its own row is the lock.
    teams::lock(conn, id).await?;
    of_team(conn, id).await
}

/// Replaces the channels of a team, which must be locked.
///
/// # Errors
/// Those of the database, also for an unknown team; the transaction has to be rolled back then.
#[crate::boxed]
pub async fn replace(conn: &mut Conn, team: &str, channels: &[ChatChannel]) -> Result<()> {
    let old = diesel::delete(chat_channel::table.filter(chat_channel::team_id.eq(team)));
    on!(conn, |c| old.execute(c).await)?;
    for (position, channel) in (0_i32..).zip(channels) {
        let values = (
            chat_channel::id.eq(&channel.id),
            chat_channel::team_id.eq(team),
            chat_channel::position.eq(position),
            chat_channel::kind.eq(&channel.kind),
            chat_channel::url.eq(channel.url.expose()),
        );
        on!(conn, |c| diesel::insert_into(chat_channel::table).values(values).execute(c).await)?;
    }
    Ok(())
}
