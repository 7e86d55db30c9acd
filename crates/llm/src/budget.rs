//! Budgets: tokens, time and cost, per call, per request, and per team and day.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::{Timestamp, setting};
use chrono::NaiveDate;
use parking_lot::Mutex;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// An amount of money in millionths of the currency of the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(pub u64);

impl Micros {
    /// Returns the price of some tokens; `self` is the price of a million.
    #[must_use]
    pub fn of_tokens(self, tokens: u64) -> Self {
        let micros = u128::from(self.0) * u128::from(tokens) / 1_000_000;
        Self(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let amount = f64::deserialize(input)?;
        // A price over a thousand million is a mistake, and below it the product fits easily.
        if !(0.0..=1e9).contains(&amount) {
            return Err(D::Error::custom("not a price: expected a number of at least 0"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        Ok(Self((amount * 1e6).round() as u64))
    }
}

/// Limits of section `llm.limits`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Limits of one call.
    pub call: Limit,
    /// Limits of all calls of one request.
    pub request: Limit,
    /// Limits of all calls of a team on one day (UTC), in this process.
    pub team_day: Limit,
}

/// A limit of each quantity. 0 means no limit, which is the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// Tokens of input and output together.
    pub tokens: u64,
    /// Time of all calls together.
    #[serde(rename = "time_s", deserialize_with = "setting::seconds")]
    pub time: Duration,
    /// Cost by the prices of the settings.
    pub cost: Micros,
}

/// Limits of one team per day, each in place of the common one; `None` for the common one, 0 for no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TeamLimit {
    /// Tokens of input and output together.
    pub tokens: Option<u64>,
    /// Cost by the prices of the settings.
    pub cost: Option<Micros>,
}

/// What calls have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens of input and output together.
    pub tokens: u64,
    /// Time of all calls together.
    pub time: Duration,
    /// Cost by the prices of the settings.
    pub cost: Micros,
}

impl Spent {
    fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            time: self.time.saturating_add(other.time),
            cost: Micros(self.cost.0.saturating_add(other.cost.0)),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            time: self.time.saturating_sub(other.time),
            cost: Micros(self.cost.0.saturating_sub(other.cost.0)),
        }
    }
}

/// A call that does not fit into a budget, and was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {quantity} {scope} does not suffice")]
pub struct OverBudget {
    /// The limited quantity: tokens, time or cost.
    pub quantity: &'static str,
    /// Whose limit it is.
    pub scope: Scope,
}

/// Scope of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One call: `llm.limits.call`.
    Call,
    /// One request: `llm.limits.request`.
    Request,
    /// One team and day: `llm.limits.team_day`, or the team's own limits.
    TeamDay,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call => "per call (llm.limits.call)",
            Self::Request => "per request (llm.limits.request)",
            Self::TeamDay => "per team and day (llm.limits.team_day, or modelLimits of the team)",
        })
    }
}

/// The budget of one request. Clones share it.
#[derive(Clone)]
pub struct Budget {
    call: Limit,
    request: Account,
    team: Account,
}

#[derive(Clone)]
struct Account {
    scope: Scope,
    limit: Limit,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    spent: Spent,
    reserved: Spent,
}

impl Limit {
    fn lacks(&self, need: Spent) -> Option<&'static str> {
        if self.tokens > 0 && need.tokens > self.tokens {
            Some("tokens")
        } else if self.cost.0 > 0 && need.cost > self.cost {
            Some("cost")
        } else if !self.time.is_zero() && need.time >= self.time {
            Some("time")
        } else {
            None
        }
    }
}

impl Account {
    fn new(scope: Scope, limit: Limit) -> Self {
        Self { scope, limit, book: Arc::default() }
    }

    fn reserve(&self, need: Spent) -> Result<(), OverBudget> {
        let mut book = self.book.lock();
        let total = book.spent.plus(book.reserved).plus(need);
        if let Some(quantity) = self.limit.lacks(total) {
            return Err(OverBudget { quantity, scope: self.scope });
        }
        book.reserved = book.reserved.plus(need);
        Ok(())
    }

    fn settle(&self, reserved: Spent, spent: Spent) {
        let mut book = self.book.lock();
        book.reserved = book.reserved.minus(reserved);
        book.spent = book.spent.plus(spent);
    }

    fn time_left(&self) -> Option<Duration> {
        let left = || self.limit.time.saturating_sub(self.book.lock().spent.time);
        (!self.limit.time.is_zero()).then(left)
    }
}

impl Budget {
    /// Returns what the request has used so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.request.book.lock().spent
    }

    /// Returns the time that the next call may take; `None` without a limit.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let call = Some(self.call.time).filter(|time| !time.is_zero());
        [call, self.request.time_left(), self.team.time_left()].into_iter().flatten().min()
    }

    /// Returns whose limit of time is used up, if one is.
    pub(crate) fn out_of_time(&self) -> Option<Scope> {
        let accounts = [&self.request, &self.team];
        accounts.into_iter().find(|account| account.time_left() == Some(Duration::ZERO)).map(|account| account.scope)
    }

    /// Reserves the most that a call can use.
    pub(crate) fn reserve(&self, need: Spent) -> Result<Reservation, OverBudget> {
        if let Some(quantity) = self.call.lacks(need) {
            return Err(OverBudget { quantity, scope: Scope::Call });
        }
        self.request.reserve(need)?;
        if let Err(error) = self.team.reserve(need) {
            self.request.settle(need, Spent::default());
            return Err(error);
        }
        Ok(Reservation { budget: self.clone(), reserved: need, spent: None })
    }
}

/// A reservation of one call. Dropped without an end, it counts as used: the endpoint may have worked.
pub(crate) struct Reservation {
    budget: Budget,
    reserved: Spent,
    spent: Option<Spent>,
}

impl Reservation {
    /// Ends the reservation with what the call has used.
    pub(crate) fn settle(mut self, spent: Spent) {
        self.spent = Some(spent);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let spent = self.spent.unwrap_or(self.reserved);
        self.budget.request.settle(self.reserved, spent);
        self.budget.team.settle(self.reserved, spent);
    }
}

/// The accounts of all teams for the current day.
pub(crate) struct Days {
    limits: Limits,
    today: Mutex<Today>,
}

#[derive(Default)]
struct Today {
    day: NaiveDate,
    teams: HashMap<String, Arc<Mutex<Book>>>,
}

impl Days {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, today: Mutex::default() }
    }

    /// Returns the budget of a new request of a team.
    pub(crate) fn budget(&self, team: &str, own: TeamLimit, now: Timestamp) -> Budget {
        let mut today = self.today.lock();
        let day = now.date_naive();
        if today.day != day {
            *today = Today { day, teams: HashMap::new() };
        }
        let book = Arc::clone(today.teams.entry(team.to_owned()).or_default());
        let common = self.limits.team_day;
        let (tokens, cost) = (own.tokens.unwrap_or(common.tokens), own.cost.unwrap_or(common.cost));
        let team = Account { scope: Scope::TeamDay, limit: Limit { tokens, cost, ..common }, book };
        Budget { call: self.limits.call, request: Account::new(Scope::Request, self.limits.request), team }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokens: u64) -> Spent {
        Spent { tokens, ..Spent::default() }
    }

    fn limit(tokens: u64) -> Limit {
        Limit { tokens, ..Limit::default() }
    }

    fn day(number: u32) -> Timestamp {
        format!("2026-05-{number:02}T12:00:00Z").parse().unwrap()
    }

    fn over(scope: Scope) -> OverBudget {
        OverBudget { quantity: "tokens", scope }
    }

    #[test]
    fn a_call_has_to_fit_into_every_budget() {
        let days = Days::new(Limits { call: limit(50), request: limit(80), team_day: limit(100) });
        let budget = days.budget("a", TeamLimit::default(), day(1));
        assert_eq!(budget.reserve(tokens(51)).err(), Some(over(Scope::Call)));
        let first = budget.reserve(tokens(50)).unwrap();
        assert_eq!(budget.reserve(tokens(31)).err(), Some(over(Scope::Request)));
        first.settle(tokens(40));
        budget.reserve(tokens(40)).unwrap().settle(tokens(40));
        assert_eq!(budget.spent(), tokens(80));
        let next = days.budget("a", TeamLimit::default(), day(1));
        assert_eq!(next.reserve(tokens(21)).err(), Some(over(Scope::TeamDay)));
        assert!(next.reserve(tokens(20)).is_ok());
        assert!(days.budget("b", TeamLimit::default(), day(1)).reserve(tokens(50)).is_ok());
        let own = |tokens, cost| days.budget("a", TeamLimit { tokens, cost }, day(1)).reserve(self::tokens(50));
        assert!(own(Some(200), None).is_ok() && own(Some(0), None).is_ok());
        assert_eq!(own(None, Some(Micros(1))).err(), Some(over(Scope::TeamDay)));
        assert!(days.budget("a", TeamLimit::default(), day(2)).reserve(tokens(50)).is_ok());
    }

    #[test]
    fn a_refused_call_reserves_nothing_and_a_dropped_one_counts() {
        let days = Days::new(Limits { team_day: limit(10), ..Limits::default() });
        let budget = days.budget("a", TeamLimit::default(), day(1));
        assert!(budget.reserve(tokens(11)).is_err());
        drop(budget.reserve(tokens(10)).unwrap());
        assert_eq!(budget.spent(), tokens(10));
        assert!(budget.reserve(tokens(1)).is_err());
    }

    #[test]
    fn time_is_what_remains_of_the_tightest_limit() {
        let time = |seconds| Limit { time: Duration::from_secs(seconds), ..Limit::default() };
        let days = Days::new(Limits { call: time(30), request: time(40), ..Limits::default() });
        let budget = days.budget("a", TeamLimit::default(), day(1));
        assert_eq!(budget.time_left(), Some(Duration::from_secs(30)));
        let used = Spent { time: Duration::from_secs(25), ..Spent::default() };
        budget.reserve(Spent::default()).unwrap().settle(used);
        assert_eq!(budget.time_left(), Some(Duration::from_secs(15)));
        budget.reserve(Spent::default()).unwrap().settle(used);
        assert_eq!(
            budget.reserve(Spent::default()).err(),
            Some(OverBudget { quantity: "time", scope: Scope::Request })
        );
    }

    #[test]
    fn money_is_counted_in_millionths() {
        assert_eq!(Micros(150_000).of_tokens(2_000_000), Micros(300_000));
        assert_eq!(Micros(u64::MAX).of_tokens(u64::MAX), Micros(u64::MAX));
    }
}
