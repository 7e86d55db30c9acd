//! Untrusted input: bounded time, memory and stack.

use std::thread;
use std::time::{Duration, Instant};

use base::Stop;
use change_diff::{GaveUp, Status, compare, fields, tree, unified};
use serde_json::{Value, json};

/// Runs `work` on a stack as small as half of that of the threads that convert pages.
fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

fn lines(numbers: impl Iterator<Item = usize>) -> String {
    numbers.map(|number| format!("{number}\n")).collect()
}

#[test]
fn hard_comparisons_end_soon() {
    let turned = |count: usize| (lines(0..count), lines((0..count).rev()));
    let pairs: Vec<usize> = (0..30_000).chain(0..30_000).collect();
    // Twice the same lines in an order that has nothing to do with the first.
    let mixed = |step: usize| lines((0..pairs.len()).map(|place| pairs[place * step % pairs.len()]));
    let (one, other) = ("a\n".repeat(50) + "b\n", "b\n".repeat(50) + "a\n");
    for (previous, current) in
        [turned(6000), turned(100_000), (mixed(7919), mixed(104_729)), (one.repeat(900), other.repeat(900))]
    {
        let start = Instant::now();
        let diff = on_small_stack(move || unified(&previous, &current, &Stop::new())).unwrap();
        assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
        assert_eq!(tree(&diff).files.len(), 1);
    }
}

#[test]
fn too_many_lines_are_refused() {
    let (previous, current) = ("a\n".repeat(2_100_000), "b\n".repeat(2_100_000));
    assert_eq!(unified(&previous, &current, &Stop::new()), Err(GaveUp::TooLarge));
    let (previous, current) = ("a\nb\n".repeat(300_000), "b\nb\na\n".repeat(300_000));
    assert_eq!(unified(&previous, &current, &Stop::new()), Err(GaveUp::TooLarge));
}

#[test]
fn work_ends_when_the_caller_wants_it() {
    let stop = Stop::new();
    stop.set();
    assert_eq!(unified("a", "b", &stop), Err(GaveUp::Stopped));
    assert_eq!(fields(&json!(1), &json!(2), &stop), Err(GaveUp::Stopped));

    let stop = Stop::new();
    let seen = stop.clone();
    let letters = |step: usize| -> String {
        (0..400_000_usize).map(|at| ["a\n", "b\n", "c\n", "d\n"][((at * at * step) >> 7) % 4]).collect()
    };
    let work = thread::spawn(move || unified(&letters(3), &letters(5), &seen));
    thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    stop.set();
    assert_eq!(work.join().unwrap(), Err(GaveUp::Stopped));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn long_lines_and_deep_blocks_are_read_in_linear_time() {
    let start = Instant::now();
    let cases = [
        ("> ".repeat(500_000), "> ".repeat(500_000) + "x"),
        (
            "- ".repeat(1000) + "\n" + &"\n".repeat(300_000) + "x",
            "- ".repeat(1000) + "\n" + &"\n".repeat(300_000) + "y",
        ),
        (" ".repeat(1_000_000) + "a  b", " ".repeat(1_000_000) + "a  c"),
        ("a\u{a0} ".repeat(200_000), "a\u{a0} ".repeat(200_000) + "b"),
        ("e".to_owned() + &"\u{301}\u{323}".repeat(200_000), "e".to_owned() + &"\u{323}\u{301}".repeat(200_000) + "f"),
        ("`".repeat(500_000), "`".repeat(500_001)),
    ];
    for (previous, current) in cases {
        assert_eq!(compare(&previous, &current), Status::Changed);
    }
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

#[test]
fn values_may_be_deep_and_wide() {
    // Values of this depth need a large stack to be dropped.
    let work = || {
        let deep = |leaf: i32| (0..5000).fold(Value::from(leaf), |value, _| Value::Array(vec![value]));
        let (previous, current) = (deep(1), deep(2));
        let found = fields(&previous, &current, &Stop::new()).unwrap();
        assert_eq!(
            (found.changes.len(), found.changes[0].previous, found.changes[0].current),
            (1, &json!(1), &json!(2))
        );
    };
    thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();

    let wide =
        |step: u64| -> Value { (0..20_000_u64).map(|at| json!({"text": at * step, "a": at, "b": [at]})).collect() };
    let start = Instant::now();
    assert!(fields(&wide(3), &wide(5), &Stop::new()).unwrap().changes.len() >= 19_999);
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());

    let key = "k".repeat(100_000);
    let long = |value: i32| json!({ key.as_str(): (0..1000).map(|_| json!({"a": value})).collect::<Vec<_>>() });
    assert_eq!(fields(&long(1), &long(2), &Stop::new()), Err(GaveUp::TooLarge));
    assert_eq!(fields(&json!(vec![0; 1_100_000]), &json!([]), &Stop::new()), Err(GaveUp::TooLarge));
}
