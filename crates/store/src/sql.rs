//! Statements written out as SQL, for what the query builder cannot say. Prepared once per connection, under their text.

use std::marker::PhantomData;

use diesel::backend::Backend;
use diesel::expression::AsExpression;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::SingleValue;

/// A statement for one backend; `Row` is the SQL type of what it gives, `()` for nothing. Each `{}` in the text is a bound
/// value, in order; PostgreSQL can name the first again as `$1`, SQLite as `?1`.
pub(crate) struct Sql<'a, DB: Backend, Row = ()> {
    text: &'static str,
    binds: Vec<Box<dyn QueryFragment<DB> + Send + 'a>>,
    row: PhantomData<fn() -> Row>,
}

/// Values as SQLite takes a list of them: `json_each` of one bound text. A list of bound values is compiled anew each time.
pub(crate) fn json(values: &[impl serde::Serialize]) -> String {
    // Strings, numbers and rows of them always can be written.
    serde_json::to_string(values).unwrap_or_default()
}

impl<'a, DB: Backend, Row> Sql<'a, DB, Row> {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text, binds: Vec::new(), row: PhantomData }
    }

    /// Binds the next value, as the SQL type `ST`.
    pub(crate) fn bind<ST, T>(mut self, value: T) -> Self
    where
        ST: diesel::sql_types::SqlType + SingleValue,
        T: AsExpression<ST>,
        T::Expression: QueryFragment<DB> + Send + 'a,
    {
        self.binds.push(Box::new(value.as_expression()));
        self
    }
}

impl<DB: Backend, Row> QueryFragment<DB> for Sql<'_, DB, Row> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let mut binds = self.binds.iter();
        for (index, piece) in self.text.split("{}").enumerate() {
            if index > 0
                && let Some(bind) = binds.next()
            {
                bind.walk_ast(out.reborrow())?;
            }
            out.push_sql(piece);
        }
        Ok(())
    }
}

impl<DB: Backend, Row> QueryId for Sql<'_, DB, Row> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<DB: Backend, Row> Query for Sql<'_, DB, Row> {
    type SqlType = Row;
}
