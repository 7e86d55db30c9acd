//! Statements written as SQL: for what the query builder cannot express, and for updates at each request or page, which
//! the query builder prepares again each time. These statements are prepared once per connection and cached by their
//! text.

use std::marker::PhantomData;

use diesel::backend::Backend;
use diesel::expression::AsExpression;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::SingleValue;

/// Statement for one backend; `Row` is the SQL type of a result row, `()` for none. Each `{}` in the text is a bound
/// value, in order. A later place can refer to value n as `$n` on PostgreSQL or `?n` on SQLite.
pub(crate) struct Sql<'a, DB: Backend, Row = ()> {
    /// Bound values, each with the text before it: diesel walks over them several times for one execution.
    binds: Vec<(&'static str, Bind<'a, DB>)>,
    /// Text after the last value.
    rest: &'static str,
    row: PhantomData<fn() -> Row>,
}

type Bind<'a, DB> = Box<dyn QueryFragment<DB> + Send + 'a>;

/// Encodes a list for SQLite's `json_each`: one bound text keeps the statement cacheable, while a list of bound values
/// is compiled again for each length.
pub(crate) fn json(values: &[impl serde::Serialize]) -> String {
    // Strings, numbers and tuples of them can always be serialised.
    serde_json::to_string(values).unwrap_or_default()
}

/// Fills a list up with its last item to a power of two, so that a [`Prepared`] statement with a list has few texts.
pub(crate) fn filled<T: Clone>(list: &[T]) -> Vec<T> {
    let mut filled = list.to_vec();
    if let Some(last) = list.last() {
        filled.resize(list.len().next_power_of_two(), last.clone());
    }
    filled
}

impl<'a, DB: Backend, Row> Sql<'a, DB, Row> {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { binds: Vec::new(), rest: text, row: PhantomData }
    }

    /// Binds the next value with the SQL type `ST`.
    pub(crate) fn bind<ST, T>(mut self, value: T) -> Self
    where
        ST: diesel::sql_types::SqlType + SingleValue,
        T: AsExpression<ST>,
        T::Expression: QueryFragment<DB> + Send + 'a,
    {
        // Statements contain no brace other than `{}`, and searching for one character is much faster than for two.
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

/// Statement of the query builder that is prepared once per connection and cached by its text: for updates at each page or
/// check, which the query builder prepares again each time, since their texts may differ from call to call, and for
/// lists that are [`filled`].
pub(crate) struct Prepared<Q>(pub(crate) Q);

impl<DB: Backend, Q: QueryFragment<DB>> QueryFragment<DB> for Prepared<Q> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.0.walk_ast(out)
    }

    fn is_safe_to_cache_prepared(&self, _: &DB) -> QueryResult<bool> {
        Ok(true)
    }
}

impl<Q: Query> Query for Prepared<Q> {
    type SqlType = Q::SqlType;
}

impl<Q> QueryId for Prepared<Q> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn lists_are_filled_up_to_a_power_of_two() {
        assert_eq!(filled(&["a", "b", "c"]), ["a", "b", "c", "c"]);
        assert_eq!(filled(&["a"]), ["a"]);
        assert!(filled::<&str>(&[]).is_empty());
    }
}
