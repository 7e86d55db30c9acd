//! An applier of unified diffs that shares no code with their writer.

/// Returns the lines after the diff, and panics if it does not apply.
pub(crate) fn apply(previous: &str, diff: &str) -> String {
    let old: Vec<&str> = previous.split_terminator('\n').collect();
    let mut lines = diff.split_terminator('\n').peekable();
    assert_eq!(lines.next(), Some("--- previous.md"));
    assert_eq!(lines.next(), Some("+++ current.md"));
    let (mut new, mut at): (Vec<&str>, usize) = (vec![], 0);
    while let Some(head) = lines.next() {
        let spans: Vec<(usize, usize)> = head
            .strip_prefix("@@ -")
            .and_then(|head| head.strip_suffix(" @@"))
            .unwrap_or_else(|| panic!("no head: {head}"))
            .split(" +")
            .map(|span| {
                let (start, length) = span.split_once(',').unwrap_or((span, "1"));
                (start.parse().unwrap(), length.parse().unwrap())
            })
            .collect();
        let [(start, mut removed), (_, mut added)] = spans[..] else { panic!("no head: {head}") };
        let start = if removed == 0 { start } else { start - 1 };
        new.extend(&old[at..start]);
        at = start;
        assert_eq!(spans[1].0, if added == 0 { new.len() } else { new.len() + 1 }, "{head}");
        while removed > 0 || added > 0 {
            let line = lines.next().expect("a line");
            if let Some(gone) = line.strip_prefix('-') {
                assert_eq!(old[at], gone);
                at += 1;
                removed -= 1;
            } else if let Some(fresh) = line.strip_prefix('+') {
                new.push(fresh);
                added -= 1;
            } else {
                assert_eq!(Some(old[at]), line.strip_prefix(' '));
                new.push(old[at]);
                at += 1;
                removed -= 1;
                added -= 1;
            }
        }
    }
    new.extend(&old[at..]);
    new.iter().map(|line| format!("{line}\n")).collect()
}
