//! Time between the program (UTC, with its zone) and the database (naive UTC, to the microsecond).

use base::Timestamp;
use chrono::{DateTime, NaiveDateTime};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow, Queryable};
use diesel::expression::AsExpression;
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types;

/// A moment as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = sql_types::Timestamp)]
pub struct Stamp(NaiveDateTime);

impl From<Timestamp> for Stamp {
    fn from(moment: Timestamp) -> Self {
        // PostgreSQL keeps microseconds and SQLite more: cut here, so that both give back the same.
        Self(DateTime::from_timestamp_micros(moment.timestamp_micros()).unwrap_or(moment).naive_utc())
    }
}

impl From<Stamp> for Timestamp {
    fn from(stamp: Stamp) -> Self {
        stamp.0.and_utc()
    }
}

impl<DB: Backend> ToSql<sql_types::Timestamp, DB> for Stamp
where
    NaiveDateTime: ToSql<sql_types::Timestamp, DB>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        self.0.to_sql(out)
    }
}

impl<DB: Backend> FromSql<sql_types::Timestamp, DB> for Stamp
where
    NaiveDateTime: FromSql<sql_types::Timestamp, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Self> {
        NaiveDateTime::from_sql(bytes).map(Self)
    }
}

/// A moment that may not have come yet, as a column gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaybeStamp(Option<Stamp>);

impl From<MaybeStamp> for Option<Timestamp> {
    fn from(stamp: MaybeStamp) -> Self {
        stamp.0.map(Timestamp::from)
    }
}

impl<DB: Backend> Queryable<sql_types::Nullable<sql_types::Timestamp>, DB> for MaybeStamp
where
    NaiveDateTime: FromSql<sql_types::Timestamp, DB>,
{
    type Row = Option<Stamp>;

    fn build(row: Option<Stamp>) -> deserialize::Result<Self> {
        Ok(Self(row))
    }
}
