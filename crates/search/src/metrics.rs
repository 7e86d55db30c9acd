//! Metrics of this crate.

use std::time::Duration;

use metrics::{counter, histogram};

use crate::answer::EngineAnswer;
use crate::error::EngineError;

/// Counter of queries that engines were asked, by `engine` and `outcome`: `found`, `empty`, `cached`, or the reason of a
/// failure.
const QUERIES: &str = "quarry_search_engine_queries_total";
/// Time of a query, by `engine`.
const SECONDS: &str = "quarry_search_engine_seconds";

pub(crate) fn asked(engine: &'static str, answer: &Result<EngineAnswer, EngineError>, time: Duration) {
    let outcome = match answer {
        Ok(answer) if answer.results.is_empty() => "empty",
        Ok(_) => "found",
        Err(error) => error.word(),
    };
    counter!(QUERIES, "engine" => engine, "outcome" => outcome).increment(1);
    histogram!(SECONDS, "engine" => engine).record(time.as_secs_f64());
}

pub(crate) fn cached(engine: &'static str) {
    counter!(QUERIES, "engine" => engine, "outcome" => "cached").increment(1);
}
