//! Two versions of a page, and of a value: the parts of the input before and after its first NUL.

use base::Stop;
use change_diff::{Status, canonical, compare, tree};
use serde_json::Value;

/// Two versions of a page.
///
/// It must hold: a version is the same as itself and as its canonical text; a diff exists where the versions differ; it
/// prints back from its tree; applied to the previous version, it gives one that is the same as the current.
pub fn unified(input: &[u8]) {
    let (previous, current) = versions(input);
    assert_eq!(compare(&previous, &canonical(&previous)), Status::Same);
    assert_eq!(canonical(&canonical(&current)), canonical(&current));
    let diff = change_diff::unified(&previous, &current, &Stop::new()).expect("an input is small");
    assert_eq!(diff.is_empty(), compare(&previous, &current) == Status::Same);
    if diff.is_empty() {
        return;
    }
    let before = canonical(&previous);
    let (mut lines, mut printed) = (before.split_terminator('\n').collect::<Vec<_>>(), String::new());
    let mut applied: Vec<&str> = Vec::new();
    let mut at = 0;
    let tree = tree(&diff);
    for chunk in &tree.files[0].chunks {
        printed.extend([chunk.content, "\n"]);
        let start = if chunk.old_lines == 0 { chunk.old_start } else { chunk.old_start - 1 };
        applied.extend(lines.drain(..start - at));
        at = start + chunk.old_lines;
        for change in &chunk.changes {
            let content = change.content();
            printed.extend([content, "\n"]);
            if !content.starts_with('+') {
                assert_eq!(lines.remove(0), &content[1..]);
            }
            if !content.starts_with('-') {
                applied.push(&content[1..]);
            }
        }
    }
    applied.append(&mut lines);
    assert_eq!(diff, format!("--- previous.md\n+++ current.md\n{printed}"));
    assert_eq!(compare(&applied.join("\n"), &current), Status::Same, "{diff}");
}

/// Two versions of a value, as JSON.
///
/// It must hold: a value is the same as itself; no path occurs twice; the values of a change differ; and the values differ
/// in one direction if they do in the other.
pub fn fields(input: &[u8]) {
    let (previous, current) = versions(input);
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (Some(previous), Some(current)) = (read(&previous), read(&current)) else { return };
    let stop = Stop::new();
    let compare = |one, other| change_diff::fields(one, other, &stop).expect("an input is small").changes;
    assert!(compare(&previous, &previous).is_empty());
    let found = compare(&previous, &current);
    assert_eq!(found.is_empty(), compare(&current, &previous).is_empty());
    let mut paths: Vec<_> = found.iter().map(|change| change.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), found.len(), "{found:?}");
    for change in found {
        let same = change_diff::fields(change.previous, change.current, &stop).is_ok_and(|changed| changed.is_empty());
        assert!(!same, "{change:?}");
    }
}

fn versions(input: &[u8]) -> (String, String) {
    let middle = input.iter().position(|&byte| byte == 0).unwrap_or(input.len() / 2);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&input[..middle]), text(input.get(middle + 1..).unwrap_or_default()))
}
