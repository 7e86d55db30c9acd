//! Statements written out as SQL: for what the query builder cannot say, and for updates that are made at each request or
//! page, which it has prepared anew each time. These are prepared once per connection, under their text.

use std::marker::PhantomData;

use diesel::backend::Backend;
use diesel::expression::AsExpression;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::SingleValue;

/// A statement for one backend; `Row` is the SQL type of what it gives, `()` for nothing. Each `{}` in the text is a bound
/// value, in order; PostgreSQL can name the first again as `$1`, SQLite as `?1`.
pub(crate) struct Sql<'a, DB: Backend, Row = ()> {
    /// The values, each behind the text that stands before it: diesel walks over them several times for one execution.
    binds: Vec<(&'static str, Bind<'a, DB>)>,
    /// The text behind the last value.
    rest: &'static str,
    row: PhantomData<fn() -> Row>,
}

type Bind<'a, DB> = Box<dyn QueryFragment<DB> + Send + 'a>;

/// Values as SQLite takes a list of them: `json_each` of one bound text. A list of bound values is compiled anew each time.
pub(crate) fn json(values: &[impl serde::Serialize]) -> String {
    // Strings, numbers and rows of them always can be written.
    serde_json::to_string(values).unwrap_or_default()
}

impl<'a, DB: Backend, Row> Sql<'a, DB, Row> {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { binds: Vec::new(), rest: text, row: PhantomData }
    }

    /// Binds the next value, as the SQL type `ST`.
    pub(crate) fn bind<ST, T>(mut self, value: T) -> Self
    where
        ST: diesel::sql_types::SqlType + SingleValue,
        T: AsExpression<ST>,
        T::Expression: QueryFragment<DB> + Send + 'a,
    {
        // No statement has a brace of its own, and one character is found much faster than two.
        let (before, rest) = self.rest.split_once('{').unwrap_or((self.rest, ""));
        debug_assert!(rest.starts_with('}'), "more values than places in a statement, or a brace");
        self.binds.push((before, Box::new(value.as_expression())));
        self.rest = rest.strip_prefix('}').unwrap_or(rest);
        self
    }
}

impl<DB: Backend, Row> QueryFragment<DB> for Sql<'_, DB, Row> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        for (before, bind) in &self.binds {
            out.push_sql(before);
            bind.walk_ast(out.reborrow())?;
        }
        out.push_sql(self.rest);
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
