//! Detection of polling: requests that a page repeats and that do not tell whether its text is still to come.
//!
//! A request is classified when it begins. The first request to an endpoint ([`Address::place`]) is a question. A
//! repetition while the text stays the same is doubtful, and soon a poll: at once if a timer repeats the identical
//! request, the second time if only counters or timestamps differ, later if an answer causes the next request. A
//! different request caused by an answer counts as a question a few times.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::tab::Address;

/// Maximum number of endpoints that are distinguished.
const MAX_PLACES: usize = 2000;
/// Time in which several requests count as one burst: pages often request their parts at once.
const BURST: Duration = Duration::from_millis(150);
/// Time after an answer in which a request counts as caused by it.
const CAUSED: Duration = Duration::from_millis(100);
/// Time after a failure in which a repetition counts as a retry.
const EAGER: Duration = Duration::from_millis(800);
/// Weight of a repetition by a timer.
const POLL: u32 = 2;
/// Total weight from which an endpoint is polled, even if the requests differ or are caused by answers.
const MANY: u32 = 5;

/// Classification of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// The text may depend on it.
    Question,
    /// The text may depend on it, but hardly if it has been stable for a while.
    Doubtful,
    /// The request is repeated endlessly.
    Poll,
}

/// Endpoints that a page has requested.
#[derive(Default)]
pub(super) struct Habits(HashMap<u64, Habit>);

/// History of one endpoint.
struct Habit {
    /// The last two requests.
    last: Address,
    previous: Address,
    last_asked: Instant,
    /// Start of the current burst, and the classification of its first request.
    burst: Instant,
    burst_sort: Sort,
    last_answered: Option<Instant>,
    /// Consecutive failures.
    failures: u32,
    /// Total weight of repetitions since the text changed.
    repetition: u32,
    /// Weight of the last request.
    weight: u32,
    /// Number of requests that were not cancelled, and of those that were.
    asked: u32,
    withdrawals: u32,
}

impl Habit {
    fn new(address: Address, now: Instant) -> Self {
        Self {
            last: address,
            previous: address,
            last_asked: now,
            burst: now,
            burst_sort: Sort::Question,
            last_answered: None,
            failures: 0,
            repetition: 0,
            weight: 0,
            asked: 1,
            withdrawals: 0,
        }
    }

    /// Classifies another request to the endpoint. `change` is the time of the text's last change.
    fn judge(&mut self, address: Address, change: Instant, now: Instant) -> Sort {
        self.weight = 0;
        if self.asked > 0 && now - self.burst < BURST {
            // The timers of a hurried page can fire several times within a burst.
            let is_exact = address.exact == self.last.exact;
            return self.burst_sort.min(if is_exact { Sort::Poll } else { Sort::Doubtful });
        }
        self.burst = now;
        self.burst_sort = if self.asked == 0 { Sort::Question } else { self.judge_repetition(address, change, now) };
        self.burst_sort
    }

    /// Classifies a request to an endpoint that was requested before.
    fn judge_repetition(&mut self, address: Address, change: Instant, now: Instant) -> Sort {
        if self.last_asked < change {
            self.repetition = 0;
            return Sort::Doubtful;
        }
        if self.failures > 0 {
            // Pages retry failed requests; a poll may fail endlessly.
            return match self.failures {
                1 => Sort::Question,
                2 if now - self.last_asked < EAGER => Sort::Doubtful,
                _ => Sort::Poll,
            };
        }
        let is_exact = address.exact == self.last.exact;
        let is_same = address.folded == self.last.folded;
        let is_caused = self.last_answered.is_some_and(|answered| now - answered < CAUSED);
        let weight = if is_exact || is_same && !is_caused { POLL } else { 1 };
        self.repetition += weight;
        self.weight = weight;
        if self.repetition >= MANY || is_exact || weight == POLL && self.repetition > POLL {
            Sort::Poll
        } else if is_caused && !is_same {
            Sort::Question
        } else {
            Sort::Doubtful
        }
    }
}

impl Habits {
    /// Records and classifies a request. `change` is the time of the text's last change.
    pub(super) fn ask(&mut self, address: Address, change: Instant, now: Instant) -> Sort {
        let Some(habit) = self.0.get_mut(&address.place) else {
            if self.0.len() >= MAX_PLACES {
                return Sort::Poll;
            }
            self.0.insert(address.place, Habit::new(address, now));
            return Sort::Question;
        };
        let sort = habit.judge(address, change, now);
        habit.previous = std::mem::replace(&mut habit.last, address);
        habit.last_asked = now;
        habit.asked += 1;
        sort
    }

    /// Withdraws a request that the page has cancelled. After too many cancellations they count as requests.
    pub(super) fn withdraw(&mut self, address: Address) {
        let Some(habit) = self.0.get_mut(&address.place).filter(|habit| habit.withdrawals < MANY) else { return };
        habit.withdrawals += 1;
        habit.asked = habit.asked.saturating_sub(1);
        if habit.last.exact == address.exact {
            habit.last = habit.previous;
            habit.repetition -= habit.weight.min(habit.repetition);
            habit.weight = 0;
        }
    }

    /// Whether the last request to the endpoint failed.
    pub(super) fn has_failed(&self, address: Address) -> bool {
        self.0.get(&address.place).is_some_and(|habit| habit.failures > 0)
    }

    /// Records an answer or a failure.
    pub(super) fn answer(&mut self, address: Address, is_failure: bool, now: Instant) {
        if let Some(habit) = self.0.get_mut(&address.place) {
            habit.last_answered = Some(now);
            habit.failures = if is_failure { habit.failures + 1 } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Page {
        habits: Habits,
        start: Instant,
        change: Instant,
    }

    impl Page {
        fn new() -> Self {
            let start = Instant::now();
            Self { habits: Habits::default(), start, change: start }
        }

        fn at(&self, millis: u64) -> Instant {
            self.start + Duration::from_millis(millis)
        }

        /// Sends a request at a time; the answer arrives 20 ms later.
        fn ask(&mut self, millis: u64, url: &str) -> Sort {
            self.ask_long(millis, url, 20)
        }

        /// Sends a request at a time; the answer takes `lasts` milliseconds.
        fn ask_long(&mut self, millis: u64, url: &str, lasts: u64) -> Sort {
            let address = Address::of("GET", url, "");
            let sort = self.habits.ask(address, self.change, self.at(millis));
            self.habits.answer(address, false, self.at(millis + lasts));
            sort
        }
    }

    #[test]
    fn what_a_timer_asks_again_is_a_poll() {
        for urls in [["/poll", "/poll"], ["/poll?0.2741", "/poll?0.93"], ["/news?since=a8f3-11", "/news?since=77c-20"]]
        {
            let mut page = Page::new();
            assert_eq!(page.ask(1000, urls[0]), Sort::Question);
            let second = if urls[0] == urls[1] { Sort::Poll } else { Sort::Doubtful };
            assert_eq!(page.ask(2000, urls[1]), second, "{urls:?}");
            assert_eq!(page.ask(3000, urls[0]), Sort::Poll, "{urls:?}");
        }
    }

    #[test]
    fn what_brings_text_is_no_poll() {
        let mut page = Page::new();
        for n in 0..10 {
            page.change = page.at(n * 300);
            assert!(page.ask(n * 300 + 200, "/list") < Sort::Poll);
        }
    }

    #[test]
    fn a_timer_of_a_hurried_page_asks_no_new_questions() {
        let mut page = Page::new();
        assert_eq!(page.ask(1000, "/ticker?a"), Sort::Question);
        for n in 1..40 {
            page.change = page.at(1000 + n * 60 - 10);
            assert_eq!(page.ask(1000 + n * 60, &format!("/ticker?{n}")) == Sort::Question, n < 3);
        }
    }

    #[test]
    fn answers_lead_to_further_questions() {
        let mut page = Page::new();
        let mut all = Vec::new();
        for n in 0..6 {
            all.push(page.ask_long(n * 300, &format!("/list?page={n}"), 290));
        }
        assert_eq!(all[0], Sort::Question);
        assert_eq!(all[1..5], [Sort::Doubtful; 4]);
        assert_eq!(all[5], Sort::Poll);
    }

    #[test]
    fn a_chain_of_other_questions_counts_for_a_while() {
        let chain = |lasts: u64| {
            let mut page = Page::new();
            let names = ["user", "rights", "page", "parts", "more", "still"];
            let ask = |(n, name): (usize, &&str)| page.ask_long(n as u64 * 300, &format!("/graph?{name}"), lasts);
            names.iter().enumerate().map(ask).collect::<Vec<_>>()
        };
        let by_answers = chain(290);
        assert_eq!(by_answers[..5], [Sort::Question; 5]);
        assert_eq!(by_answers[5], Sort::Poll);
        assert_eq!(chain(10)[1], Sort::Doubtful);
    }

    #[test]
    fn parts_that_are_asked_for_at_once_are_questions() {
        let mut page = Page::new();
        let all = (0..30).map(|n| page.ask(n, &format!("/item?id={n}"))).collect::<Vec<_>>();
        assert!(all.iter().all(|sort| *sort == Sort::Question), "{all:?}");
    }

    #[test]
    fn the_same_twice_at_once_is_no_poll() {
        let mut page = Page::new();
        assert_eq!(page.ask(1000, "/list"), Sort::Question);
        assert_eq!(page.ask(1050, "/list"), Sort::Question);
        assert_eq!(page.ask(1200, "/list"), Sort::Poll);
    }

    #[test]
    fn what_was_cancelled_was_not_asked() {
        let mut page = Page::new();
        let address = Address::of("GET", "/list", "");
        for n in 0..3 {
            assert_eq!(page.habits.ask(address, page.change, page.at(1000 + n * 400)), Sort::Question);
            page.habits.withdraw(address);
        }
        assert_eq!(page.ask(3000, "/list"), Sort::Question);
        assert_eq!(page.ask(4000, "/list"), Sort::Poll);
    }

    #[test]
    fn who_cancels_for_ever_polls() {
        let mut page = Page::new();
        let address = Address::of("GET", "/list", "");
        let mut last = Sort::Question;
        for n in 0..10 {
            last = page.habits.ask(address, page.change, page.at(1000 + n * 400));
            page.habits.withdraw(address);
        }
        assert_eq!(last, Sort::Poll);
    }

    #[test]
    fn what_failed_is_asked_again() {
        let mut page = Page::new();
        let address = Address::of("GET", "/list", "");
        let mut sorts = Vec::new();
        for n in 0..4 {
            sorts.push(page.habits.ask(address, page.change, page.at(n * 400)));
            page.habits.answer(address, true, page.at(n * 400 + 20));
        }
        assert_eq!(sorts, [Sort::Question, Sort::Question, Sort::Doubtful, Sort::Poll]);
    }
}
