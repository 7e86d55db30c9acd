//! Rows of a resource, for docs/ADDING.md: the notes of a team. Only tests compile them. A real resource has its table in
//! the migrations and in schema.rs.

use base::Timestamp;
use diesel::prelude::*;
use diesel::table;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::team;
use crate::teams;

table! {
    note (id) {
        id -> Text,
        team_id -> Text,
        text -> Text,
        label -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

/// Migration. The notes of a team are removed with it; the index serves the list.
const UP: &str = "CREATE TABLE note (
    id TEXT PRIMARY KEY NOT NULL,
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    label TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX note_of_team ON note (team_id, id);";

/// Note.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = note, treat_none_as_default_value = false)]
struct Note {
    id: String,
    team_id: String,
    text: String,
    label: Option<String>,
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    created_at: Timestamp,
}

/// Changes of a note; `None` keeps a value.
#[derive(Debug, Default, PartialEq, Eq, AsChangeset)]
#[diesel(table_name = note)]
struct NoteChange {
    text: Option<String>,
    /// New label; `Some(None)` removes it.
    label: Option<Option<String>>,
}

/// Page of a list.
struct Wanted<'a> {
    label: Option<&'a str>,
    after: Option<&'a str>,
    limit: i64,
}

/// Adds a note unless its team has `most` already; says whether it was added.
async fn create(conn: &mut Conn, new: &Note, most: i64) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        // Locked, so that two requests cannot both be the last one that the limit allows.
        teams::lock(conn, &new.team_id).await?;
        let count = note::table.filter(note::team_id.eq(&new.team_id)).count();
        let count: i64 = on!(conn, |c| count.get_result(c).await)?;
        if count >= most {
            return Ok(false);
        }
        on!(conn, |c| diesel::insert_into(note::table).values(new.clone()).execute(c).await)?;
        Ok(true)
    })
    .await
}

/// Returns a note of the team; `None` for a note of another team too.
async fn find(conn: &mut Conn, team: &str, id: &str) -> Result<Option<Note>> {
    let query = note::table.find(id).filter(note::team_id.eq(team));
    Ok(on!(conn, |c| query.select(Note::as_select()).get_result(c).await.optional())?)
}

/// Returns up to `limit` notes of the team by id, starting after `after`; of one label or of all.
async fn list(conn: &mut Conn, team: &str, wanted: &Wanted<'_>) -> Result<Vec<Note>> {
    // Every id is greater than the empty string.
    let after = wanted.after.unwrap_or_default();
    let of_team = note::table.filter(note::team_id.eq(team)).filter(note::id.gt(after));
    let page = of_team.order(note::id).limit(wanted.limit);
    match wanted.label {
        Some(label) => Ok(on!(conn, |c| page.filter(note::label.eq(label)).select(Note::as_select()).load(c).await)?),
        None => Ok(on!(conn, |c| page.select(Note::as_select()).load(c).await)?),
    }
}

/// Changes a note of the team and returns its new state; `None` if the team has no such note.
async fn update(conn: &mut Conn, team: &str, id: &str, change: &NoteChange) -> Result<Option<Note>> {
    // diesel rejects an UPDATE without a SET.
    if *change == NoteChange::default() {
        return find(conn, team, id).await;
    }
    let query = diesel::update(note::table.find(id).filter(note::team_id.eq(team))).set(change);
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.returning(Note::as_returning()).get_result(c).await.optional())?)
}

/// Removes a note of the team; says whether it had one.
async fn remove(conn: &mut Conn, team: &str, id: &str) -> Result<bool> {
    let query = diesel::delete(note::table.find(id).filter(note::team_id.eq(team)));
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.execute(c).await)? == 1)
}

mod tests {
    use diesel_async::SimpleAsyncConnection as _;

    use super::*;
    use crate::teams::Team;
    use crate::{Options, Store};

    /// Opens a database with the table and the teams `a` and `b`.
    async fn open(folder: &tempfile::TempDir) -> Store {
        let url = format!("sqlite://{}/quarry.db", folder.path().display());
        let store = Store::open(&url, Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let mut conn = store.conn().await.unwrap();
        conn.atomic(async |conn: &mut Conn| -> Result<()> {
            on!(conn, |c| c.batch_execute(UP).await)?;
            for id in ["a", "b"] {
                let team = Team::new(id, id, Timestamp::UNIX_EPOCH);
                on!(conn, |c| diesel::insert_into(team::table).values(team).execute(c).await)?;
            }
            Ok(())
        })
        .await
        .unwrap();
        store
    }

    fn note(team: &str, id: &str, label: Option<&str>) -> Note {
        let (text, label) = ("granite".to_owned(), label.map(str::to_owned));
        Note { id: id.to_owned(), team_id: team.to_owned(), text, label, created_at: Timestamp::UNIX_EPOCH }
    }

    #[tokio::test]
    async fn notes_are_listed_in_pages_and_changed_by_their_team_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder).await;
        let conn = &mut store.conn().await.unwrap();
        for (id, label) in [("1", Some("x")), ("2", None), ("3", Some("x"))] {
            assert!(create(conn, &note("a", id, label), 3).await.unwrap());
        }
        assert!(!create(conn, &note("a", "4", None), 3).await.unwrap(), "the limit");
        assert!(create(conn, &note("b", "5", None), 3).await.unwrap(), "another team has its own");
        let ids = |notes: Vec<Note>| notes.into_iter().map(|note| note.id).collect::<Vec<_>>();
        let page = |label, after| Wanted { label, after, limit: 2 };
        assert_eq!(ids(list(conn, "a", &page(None, None)).await.unwrap()), ["1", "2"]);
        assert_eq!(ids(list(conn, "a", &page(None, Some("2"))).await.unwrap()), ["3"]);
        assert_eq!(ids(list(conn, "a", &page(Some("x"), None)).await.unwrap()), ["1", "3"]);

        let without = NoteChange { label: Some(None), ..NoteChange::default() };
        assert_eq!(update(conn, "b", "1", &without).await.unwrap(), None);
        assert_eq!(update(conn, "a", "1", &without).await.unwrap(), Some(note("a", "1", None)));
        assert_eq!(update(conn, "a", "3", &NoteChange::default()).await.unwrap(), Some(note("a", "3", Some("x"))));
        assert_eq!(find(conn, "b", "1").await.unwrap(), None);
        assert!(!remove(conn, "b", "1").await.unwrap() && remove(conn, "a", "1").await.unwrap());
        assert_eq!(find(conn, "a", "1").await.unwrap(), None);
    }

    #[tokio::test]
    async fn notes_are_removed_with_their_team() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder).await;
        let conn = &mut store.conn().await.unwrap();
        assert!(create(conn, &note("a", "1", None), 9).await.unwrap());
        assert!(create(conn, &note("b", "2", None), 9).await.unwrap());
        let mut turn = conn.turn().await.unwrap();
        on!(turn, |c| diesel::delete(team::table.find("a")).execute(c).await).unwrap();
        drop(turn);
        assert_eq!(find(conn, "a", "1").await.unwrap(), None);
        assert!(find(conn, "b", "2").await.unwrap().is_some());
    }
}
