//! What readers see, and what they do not.

use change_diff::{Status, canonical, compare};

#[track_caller]
fn same(one: &str, other: &str) {
    assert_eq!(compare(one, other), Status::Same, "{one:?} {other:?}");
    assert_eq!(compare(other, one), Status::Same, "{other:?} {one:?}");
    assert_eq!(canonical(one).lines().count(), canonical(other).lines().count());
}

#[track_caller]
fn changed(one: &str, other: &str) {
    assert_eq!(compare(one, other), Status::Changed, "{one:?} {other:?}");
    assert_eq!(compare(other, one), Status::Changed, "{other:?} {one:?}");
}

#[test]
fn line_ends_and_blank_lines_are_invisible() {
    same("a\nb\n", "a\r\nb\r\n");
    same("a\nb\n", "a\rb");
    same("a\n\nb\n", "\n \t\r\n\u{a0}\na  \n\n\u{200b}\n\nb\u{a0}\u{ad}\n\n\n");
    same("", "\n\n \n");
    changed("a\nb\n", "a\n\nb\n");
    changed("", "a");
    changed("a\u{2028}b", "a\nb");
    changed("a\u{b}b", "a\nb");
}

#[test]
fn blanks_and_forms_of_letters_are_invisible_in_text() {
    same("two words\there", "two   words here");
    same("12 €", "12\u{a0}€");
    same("Žižek", "Z\u{30c}iz\u{30c}ek");
    same("ware\u{ad}house\u{200b}s", "\u{feff}ware\u{2060}houses");
    same("| a | b |", "|  a |\tb |");
    same("see `two  words`", "see `two words`");
    same("- a\n  -  b  c", "- a\n  - b c");
    changed("a b", "ab");
    changed("- a\n  - b", "- a\n- b");
    changed("\ta", "    a");
    changed("ﬁne", "fine");
    changed("می\u{200c}خواهم", "میخواهم");
    changed("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{1f469}");
    changed("a\u{2003}b", "a b");
}

#[test]
fn order_and_numbers_are_visible() {
    changed("12", "21");
    changed("- a\n- b", "- b\n- a");
    changed("a\n\na", "a");
    changed("[shop](/1)", "[shop](/2)");
}

#[test]
fn every_character_counts_in_fenced_code() {
    changed("```\na  b\n```", "```\na b\n```");
    changed("~~~\na\n\n\nb\n~~~", "~~~\na\n\nb\n~~~");
    changed("````\n```\na  b\n````", "````\n```\na b\n````");
    changed("~~~\n```\n~~~\n~~~\na  b", "~~~\n```\n~~~\n~~~\na b");
    same("~~~\n```\n~~~\na  b", "~~~\n```\n~~~\na b");
    changed("```\né\n```", "```\ne\u{301}\n```");
    changed("```\na\u{a0}b\n```", "```\na b\n```");
    same("```\na  \n```", "```\r\na\n```  \r\n");
    // An info string with a backtick opens no fence, and one after the marks closes none.
    same("``` a`b\nx  y", "``` a`b\nx y");
    changed("```\n``` a\nx  y", "```\n``` a\nx y");
    // A fence is no text, even where the two differ by an invisible character alone.
    changed("a\n`\u{200b}``\nb", "a\n```\nb");
    same("```a\u{200b}\nb", "```a\nb");
    // What follows the fence is text.
    same("```\na\n```\nx  y\n\n\nz", "```\na\n```\nx y\n\nz");
}

#[test]
fn every_character_counts_in_code_of_lists_and_quotes() {
    changed("- ```\n  a  b\n  ```", "- ```\n  a b\n  ```");
    same("- ```\n  a\n  ```\n\nx  y", "- ```\n  a\n  ```\n\nx y");
    changed(
        "1. a\n   - b\n\n     ```\n     c  d\n\n\n     e\n     ```",
        "1. a\n   - b\n\n     ```\n     c d\n\n\n     e\n     ```",
    );
    changed("- a\n\n  ~~~\n  b\n\n\n  c\n  ~~~", "- a\n\n  ~~~\n  b\n\n  c\n  ~~~");
    changed("10. a\n\n    ```\n    b  c\n    ```", "10. a\n\n    ```\n    b c\n    ```");
    changed("> ```\n> a  b\n> ```", "> ```\n> a b\n> ```");
    changed(">> ```\n>> a  b", ">> ```\n>> a b");
    // The quote ends, and its fence with it.
    same("> ```\n> a\n\nx  y", "> ```\n> a\n\nx y");
    same("> ```\n> a\nx  y", "> ```\n> a\nx y");
    // So does an item.
    same("- ```\n  a\nx  y", "- ```\n  a\nx y");
}

#[test]
fn every_character_counts_in_indented_code() {
    changed("a\n\n    b  c", "a\n\n    b c");
    changed("\tb  c", "\tb c");
    changed("    a\n\n\n    b", "    a\n\n    b");
    changed("- a\n\n      b  c", "- a\n\n      b c");
    // A paragraph goes on, and a list within a list is no code.
    same("a\n    b  c", "a\n    b c");
    same("- a\n    - b  c", "- a\n    - b c");
    same("- a\n\n    b  c", "- a\n\n    b c");
    same("1. a\n\n    b  c\n\n\n    d", "1. a\n\n    b c\n\n    d");
    same("    a\n\n\nb", "    a\n\nb");
}

#[test]
fn markers_are_told_from_text() {
    same("* * *\n    a  b", "* * *\n    a b\n".replace("a b", "a  b").as_str());
    changed("---\n    a  b", "---\n    a b");
    same("In\n1984. a\n\n    b  c", "In\n1984. a\n\n    b  c\n\n");
    same("-a\n- \u{a0}b", "-a\n-  b");
    same("1234567890. a\n\n  b  c", "1234567890. a\n\n  b c");
}

#[test]
fn canonical_text_has_one_form() {
    assert_eq!(
        canonical("\u{feff}\r\n# A \r\n\r\n\r\nb\u{feff}c\r```\r\n\r\n\r\nd\t\r\n```"),
        "# A\n\nbc\n```\n\n\nd\n```\n"
    );
    // A mark after blank lines would be the first character of the canonical text, which has none.
    assert_eq!(canonical("\n \u{200b}\r\n\u{feff}~~~\n   d\u{feff}\n"), "~~~\n   d\n");
    assert_eq!(canonical("a\u{feff}b  c"), "a\u{feff}b  c\n");
    assert_eq!(canonical("```\na\n\n\n"), "```\na\n");
    assert_eq!(canonical(" \n"), "");
}
