//! List of short texts in one column, as JSON.

use std::io::Write as _;

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::Pg;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;

/// List of short texts, stored as a JSON array. An unreadable value fails the query, so that a rule is never dropped
/// silently.
#[derive(Debug, Clone, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Text)]
pub struct List(pub Vec<String>);

impl ToSql<Text, Pg> for List {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&serde_json::to_vec(&self.0)?)?;
        Ok(IsNull::No)
    }
}

impl ToSql<Text, Sqlite> for List {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(serde_json::to_string(&self.0)?);
        Ok(IsNull::No)
    }
}

impl<DB: Backend> FromSql<Text, DB> for List
where
    String: FromSql<Text, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(serde_json::from_str(&String::from_sql(bytes)?)?))
    }
}
