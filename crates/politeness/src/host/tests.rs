//! Scheduling of requests to one host.

use super::*;
use chrono::DateTime;

fn at(millis: i64) -> Timestamp {
    DateTime::from_timestamp_millis(1_700_000_000_000 + millis).unwrap()
}

fn answered(millis: u64) -> HostAnswer {
    HostAnswer::Answered(Duration::from_millis(millis))
}

fn check(state: &HostState, pace: &Pace, now: i64, expect: StartDecision) {
    assert_eq!(state.next_start(pace, at(now)), expect, "at {now} in {state:?}");
}

#[test]
fn four_at_a_time_when_nothing_is_said() {
    let pace = Pace::new(None, None, None);
    let mut state = HostState::default();
    for _ in 0..4 {
        check(&state, &pace, 0, StartDecision::Now);
        state.started(at(0));
    }
    check(&state, &pace, 0, StartDecision::WhenOneEnds);
    state.ended(&pace, answered(80), at(80));
    check(&state, &pace, 80, StartDecision::Now);
    state.started(at(80));
    state.ended(&pace, answered(80), at(81));
    check(&state, &pace, 81, StartDecision::At(at(90)));
}

#[test]
fn crawl_delay_counts_from_start_to_start() {
    let pace = Pace::new(Some(Duration::from_secs(2)), None, Some(8));
    let mut state = HostState::default();
    state.started(at(0));
    check(&state, &pace, 3000, StartDecision::WhenOneEnds);
    state.ended(&pace, answered(500), at(500));
    check(&state, &pace, 500, StartDecision::At(at(2000)));
    check(&state, &pace, 2000, StartDecision::Now);
}

#[test]
fn crawl_delay_is_capped() {
    let pace = Pace::new(Some(Duration::from_secs(86_400)), None, None);
    assert!(pace.is_capped());
    let mut state = HostState::default();
    state.started(at(0));
    state.ended(&pace, answered(1), at(1));
    check(&state, &pace, 1, StartDecision::At(at(30_000)));
    assert!(!Pace::new(Some(Duration::ZERO), None, None).is_capped());
}

#[test]
fn delay_counts_from_end_to_start() {
    let pace = Pace::new(None, Some(Duration::from_secs(1)), Some(8));
    let mut state = HostState::default();
    state.started(at(0));
    check(&state, &pace, 0, StartDecision::WhenOneEnds);
    state.ended(&pace, answered(5000), at(5000));
    check(&state, &pace, 5000, StartDecision::At(at(6000)));
}

#[test]
fn refusals_halve_the_rate_and_pause() {
    let pace = Pace::new(None, None, Some(8));
    let mut state = HostState::default();
    for (refusal, slots) in [(1, 4), (2, 2), (3, 1), (4, 1)] {
        state.started(at(0));
        state.ended(&pace, HostAnswer::Refused(None), at(0));
        assert_eq!(pace.slots(state.lost_slots), slots, "after {refusal}");
        check(&state, &pace, 0, StartDecision::At(at(1000 << (refusal - 1))));
    }
    assert_eq!(state.gap, 500_000);
    for _ in 0..70 {
        state.started(at(60_000));
        state.ended(&pace, answered(1), at(60_000));
    }
    assert_eq!((pace.slots(state.lost_slots), state.gap), (8, 0));
}

#[test]
fn retry_after_is_kept() {
    let pace = Pace::new(None, None, None);
    let mut state = HostState::default();
    state.started(at(0));
    state.ended(&pace, HostAnswer::Refused(Some(Duration::from_secs(120))), at(0));
    check(&state, &pace, 0, StartDecision::At(at(120_000)));
    state.started(at(0));
    state.ended(&pace, HostAnswer::Refused(Some(Duration::from_secs(9000))), at(0));
    check(&state, &pace, 0, StartDecision::At(at(300_000)));
    state.started(at(0));
    state.ended(&pace, HostAnswer::Refused(Some(Duration::ZERO)), at(0));
    check(&state, &pace, 0, StartDecision::At(at(300_000)));
}

#[test]
fn errors_never_make_a_host_look_faster() {
    let pace = Pace::new(None, None, None);
    let mut state = HostState::default();
    state.ended(&pace, answered(1000), at(0));
    state.ended(&pace, HostAnswer::Failed(Duration::from_millis(1)), at(0));
    assert_eq!(state.latency, 1_000_000);
    state.ended(&pace, HostAnswer::Failed(Duration::from_secs(9)), at(0));
    assert_eq!(state.latency, 2_000_000);
}

/// Returns a host with this response time whose four slots are all taken by the worker `w`.
fn busy(latency: u64) -> (Pace, HostState) {
    let (pace, mut state) = (Pace::new(None, None, None), HostState::default());
    state.sent_by(Some("w"));
    state.started(at(0));
    state.ended(&pace, answered(latency), at(0));
    for _ in 0..4 {
        state.sent_by(Some("w"));
        state.started(at(0));
    }
    check(&state, &pace, 0, StartDecision::WhenOneEnds);
    (pace, state)
}

#[test]
fn a_quick_host_is_taken_ahead_of_by_who_asks_it_alone() {
    // Four slots of 8 ms each make 15 answers in 30 ms; each start is a millisecond after the previous one.
    let (pace, mut state) = busy(8);
    for n in 1..=15 {
        let next = state.ahead(&pace, "w", at(0));
        assert_eq!(next, Some(at(n)));
        state.sent_by(Some("w"));
        state.started(at(n));
    }
    assert_eq!(state.ahead(&pace, "w", at(0)), None);
    assert_eq!((state.in_flight(), state.slots(&pace)), (19, 4));
    state.ended(&pace, answered(8), at(5));
    assert!(state.ahead(&pace, "w", at(5)).is_some());
}

#[test]
fn a_host_that_others_want_to_ask_is_not_taken_ahead_of() {
    let (pace, mut state) = busy(8);
    assert_eq!(state.ahead(&pace, "other", at(0)), None);
    assert_eq!(state.ahead(&pace, "w", at(900)), None);
    assert!(state.ahead(&pace, "w", at(1000)).is_some());
    let slow = Pace::new(None, Some(Duration::from_secs(1)), None);
    assert_eq!((state.ahead(&slow, "w", at(2000)), state.ahead(&pace, "w", at(2000))), (None, None));

    let (pace, mut state) = busy(8);
    state.ended(&pace, answered(8), at(1));
    state.sent_by(Some("other"));
    state.started(at(1));
    assert_eq!((state.ahead(&pace, "w", at(1)), state.ahead(&pace, "other", at(1))), (None, None));
    // Once all of them have ended, the next worker can be the only one.
    (0..4).for_each(|_| state.ended(&pace, answered(8), at(2)));
    state.sent_by(Some("other"));
    (0..4).for_each(|_| state.started(at(9)));
    assert!(state.ahead(&pace, "other", at(2000)).is_some());
}

#[test]
fn a_host_that_wants_care_or_is_slow_is_not_taken_ahead_of() {
    let (pace, mut state) = busy(0);
    assert_eq!(state.ahead(&pace, "w", at(0)), None, "nothing is known of it");
    let (_, mut slow) = busy(200);
    assert_eq!(slow.ahead(&pace, "w", at(0)), None);
    let delay = Some(Duration::from_secs(1));
    for careful in [Pace::new(delay, None, None), Pace::new(None, delay, None)] {
        assert_eq!(busy(8).1.ahead(&careful, "w", at(0)), None);
    }
    let (_, mut refused) = busy(8);
    refused.ended(&pace, HostAnswer::Refused(Some(Duration::ZERO)), at(0));
    assert_eq!(refused.ahead(&pace, "w", at(500)), None);
}

#[test]
fn an_end_that_is_written_down_late_shortens_no_delay() {
    let pace = Pace::new(None, Some(Duration::from_secs(1)), None);
    let mut state = HostState::default();
    (0..2).for_each(|_| state.started(at(0)));
    state.ended(&pace, answered(8), at(500));
    state.ended(&pace, answered(8), at(300));
    check(&state, &pace, 600, StartDecision::At(at(1500)));
}

#[test]
fn the_state_survives_a_restart() {
    let pace = Pace::new(None, None, None);
    let mut state = HostState::default();
    state.started(at(5));
    state.ended(&pace, HostAnswer::Refused(None), at(9));
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<HostState>(&text).unwrap(), state);
    assert_eq!(serde_json::from_str::<HostState>("{}").unwrap(), HostState::default());
}
