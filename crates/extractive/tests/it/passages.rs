//! How passages are written.

use crate::find;

#[test]
fn markup_is_kept_and_what_is_left_out_is_marked() {
    let page = "The **harbour** opened in [1839](https://a.test/1839). Ships brought wool. The harbour opened again in 1901.\n\n\
        A museum shows other things.\n\n- The harbour opened its *north quay* in 1920.\n";
    let found = find(page, "When was the harbour opened?").unwrap();
    assert_eq!(
        found.highlights,
        "The **harbour** opened in [1839](https://a.test/1839). … The harbour opened again in 1901.\n\n…\n\n\
         - The harbour opened its *north quay* in 1920."
    );
    assert_eq!(
        found.answer,
        "The harbour opened in 1839.\nThe harbour opened again in 1901.\nThe harbour opened its north quay in 1920."
    );
    assert_eq!(found.quote.lines().count(), 3);
}

#[test]
fn half_an_emphasis_is_written_as_text() {
    let page = "**Bring a coat. The tower opens at nine.** It is cold up there.";
    let found = find(page, "When does the tower open?").unwrap();
    assert_eq!(found.highlights, "The tower opens at nine.");
}

#[test]
fn highlights_have_a_limit() {
    let long = format!("The tower opens at nine {}.", "and closes when it rains ".repeat(30));
    let page = [long.as_str(); 8].join("\n\n");
    let found = find(&page, "When does the tower open?").unwrap();
    assert!(found.highlights.chars().count() <= 1500, "{}", found.highlights.len());
    assert!(found.highlights.starts_with("The tower opens"));
}
