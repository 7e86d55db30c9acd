//! Statements of each scrape with change tracking. As SQL they are prepared once for a connection.

use diesel::dsl::SqlTypeOf;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, Link, on};
use crate::db_time::DbTime;
use crate::sql::Sql;
use crate::versions::{Claim, Row, Series, StoredBody, USE_PRECISION, Version};

/// Columns of a row, the same for both databases.
type RowSql = SqlTypeOf<<Row as Selectable<Pg>>::SelectExpression>;

// $1 holder, $4 now.
macro_rules! claim {
    ($holder:literal, $now:literal, $more:literal) => {
        concat!(
            "UPDATE page_version SET holder = {}, held_until = {},
                used_at = CASE WHEN used_at < {} THEN {} ELSE used_at END
             WHERE team_id = {} AND key = {} AND tag = {} AND (holder IS NULL OR holder = ",
            $holder,
            " OR held_until <= ",
            $now,
            ")",
            $more,
            " RETURNING id, scraped_at, status_code, final_url, content_type, charset, rendered, body_digest, body_bytes,
                body_in_row, text_digest, text_bytes, text_in_row, extraction, extraction_key, start, run_id"
        )
    };
}

// The claim does not wait for the disk (`set_config` with `true` is SET LOCAL): one that a crash of the database undoes is
// a lease that was lost.
const CLAIM_POSTGRES: &str = claim!("$1", "$4", " AND set_config('synchronous_commit', 'off', true) = 'off'");
const CLAIM_SQLITE: &str = claim!("?1", "?4", "");

// A version without a crawl keeps the last one.
const WRITE: &str = "UPDATE page_version SET holder = NULL, held_until = NULL, scraped_at = {}, status_code = {},
        final_url = {}, content_type = {}, charset = {}, rendered = {}, body_digest = {}, body_bytes = {}, body_in_row = {},
        text_digest = {}, text_bytes = {}, text_in_row = {}, extraction = {}, extraction_key = {},
        start = COALESCE({}, start), run_id = COALESCE({}, run_id)
    WHERE id = {} AND holder = {}";

/// Takes the hold on a series that exists, if it is free.
pub(super) async fn claim(conn: &mut Conn, claim: &Claim<'_>) -> QueryResult<Option<Row>> {
    let Claim { series: Series { team, key, tag }, holder, now, until, .. } = *claim;
    let text = match conn.link {
        Link::Pg(_) => CLAIM_POSTGRES,
        Link::Sqlite(_) => CLAIM_SQLITE,
    };
    on!(conn, |c| {
        let query = Sql::<_, RowSql>::new(text)
            .bind::<Text, _>(holder)
            .bind::<SqlTimestamp, _>(DbTime::from(until))
            .bind::<SqlTimestamp, _>(DbTime::from(now - USE_PRECISION))
            .bind::<SqlTimestamp, _>(DbTime::from(now))
            .bind::<Text, _>(team)
            .bind::<Text, _>(key)
            .bind::<Text, _>(tag);
        query.get_result(c).await.optional()
    })
}

/// Writes a version and ends the hold; returns whether `holder` had it.
pub(super) async fn write(conn: &mut Conn, id: &str, holder: &str, version: &Version) -> QueryResult<bool> {
    let Version { body, text, extraction, crawl, .. } = version;
    let digest = |body: &Option<StoredBody>| body.as_ref().map(|body| body.place.digest.clone());
    let bytes = |body: &Option<StoredBody>| body.as_ref().map_or(0, |body| body.bytes);
    let in_row = |body: &Option<StoredBody>| body.as_ref().is_some_and(|body| body.place.in_row);
    let written = on!(conn, |c| {
        let query = Sql::<_>::new(WRITE)
            .bind::<SqlTimestamp, _>(DbTime::from(version.scraped_at))
            .bind::<Integer, _>(version.status_code)
            .bind::<Text, _>(&version.final_url)
            .bind::<Nullable<Text>, _>(&version.content_type)
            .bind::<Nullable<Text>, _>(&version.charset)
            .bind::<Bool, _>(version.rendered)
            .bind::<Nullable<Text>, _>(digest(body))
            .bind::<BigInt, _>(bytes(body))
            .bind::<Bool, _>(in_row(body))
            .bind::<Nullable<Text>, _>(digest(text))
            .bind::<BigInt, _>(bytes(text))
            .bind::<Bool, _>(in_row(text))
            .bind::<Nullable<Text>, _>(extraction.as_ref().map(|extraction| &extraction.value))
            .bind::<Nullable<Text>, _>(extraction.as_ref().map(|extraction| &extraction.key))
            .bind::<Nullable<Text>, _>(crawl.as_ref().map(|crawl| &crawl.start))
            .bind::<Nullable<Text>, _>(crawl.as_ref().map(|crawl| &crawl.run))
            .bind::<Text, _>(id)
            .bind::<Text, _>(holder);
        query.execute(c).await
    })?;
    Ok(written == 1)
}
