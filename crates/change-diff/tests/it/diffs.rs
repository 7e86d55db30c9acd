//! Unified diffs and their trees.

use std::fs;
use std::process::Command;

use base::Stop;
use change_diff::{canonical, tree, unified};
use serde_json::json;

use crate::apply::apply;

#[track_caller]
fn check(previous: &str, current: &str, expect: &str) {
    let diff = unified(previous, current, &Stop::new()).unwrap();
    let expect = if expect.is_empty() { String::new() } else { format!("--- previous.md\n+++ current.md\n{expect}") };
    assert_eq!(diff, expect);
    if !diff.is_empty() {
        apply(&canonical(previous), &diff);
    }
}

#[test]
fn a_kept_line_means_what_the_current_one_means() {
    // Behind the old paragraph the last line of the quote is text; behind the new one it would be code.
    let (previous, current) = ("> \na\n>  a\n>     b", "   a\na\n>    b\nc");
    let diff = unified(previous, current, &Stop::new()).unwrap();
    let applied = apply(&canonical(previous), &diff);
    assert_eq!(change_diff::compare(&applied, current), change_diff::Status::Same, "{diff}");
}

#[test]
fn hunks_have_three_lines_of_context() {
    check("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\nE\nf\ng\n", "@@ -2,6 +2,6 @@\n b\n c\n d\n-e\n+E\n f\n g\n");
    check(
        "1\n2\n3\n4\n5\n6\n7\n8\n",
        "x\n2\n3\n4\n5\n6\n7\ny\n",
        "@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n",
    );
    check(
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
        "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n",
    );
}

#[test]
fn counts_of_one_and_none_are_written_as_git_writes_them() {
    check("a\n", "b", "@@ -1 +1 @@\n-a\n+b\n");
    check("a\n", "", "@@ -1 +0,0 @@\n-a\n");
    check("", "a\n\nb", "@@ -0,0 +1,3 @@\n+a\n+\n+b\n");
    check("a", "a\n\n", "");
}

#[test]
fn lines_that_differ_only_invisibly_are_context() {
    check("é x\nb\n", "e\u{301}  x\r\nc\r\n", "@@ -1,2 +1,2 @@\n é x\n-b\n+c\n");
    check("a  b\nc\n", "a b\nd\n", "@@ -1,2 +1,2 @@\n a  b\n-c\n+d\n");
    // Text that becomes code stays as it is, or is a change.
    check("a  b\n", "```\na  b\n```\n", "@@ -1 +1,3 @@\n+```\n a  b\n+```\n");
    check("e\u{301}\n", "```\né\n```\n", "@@ -1 +1,3 @@\n-e\u{301}\n+```\n+é\n+```\n");
}

#[test]
fn a_paragraph_comes_with_the_blank_line_after_it() {
    check("a\n\nc\n", "a\n\nb\n\nc\n", "@@ -1,3 +1,5 @@\n a\n \n+b\n+\n c\n");
    check("a\n\nb\n\nc\n", "a\n\nc\n", "@@ -1,5 +1,3 @@\n a\n \n-b\n-\n c\n");
    check("- a\n- b\n", "- a\n- a\n- b\n", "@@ -1,2 +1,3 @@\n - a\n+- a\n - b\n");
    check("a\n", "a\n\nb\n", "@@ -1 +1,3 @@\n a\n+\n+b\n");
}

#[test]
fn pages_that_show_diffs_are_pages() {
    let page = "--- previous.md\n+++ current.md\n@@ -1,2 +1,2 @@\n-old\n\\ No newline at end of file\n";
    let diff = unified(page, &format!("{page}-more\n"), &Stop::new()).unwrap();
    assert_eq!(diff.lines().last(), Some("+-more"));
    let tree = tree(&diff);
    assert_eq!((tree.files.len(), tree.files[0].chunks.len(), tree.files[0].additions), (1, 1, 1));
}

#[test]
fn a_tree_has_the_form_of_parse_diff() {
    let diff = unified("a\nb\n", "a\nc\n", &Stop::new()).unwrap();
    let expect = json!({"files": [{
        "from": "previous.md", "to": "current.md", "additions": 1, "deletions": 1,
        "chunks": [{
            "content": "@@ -1,2 +1,2 @@", "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
            "changes": [
                {"type": "normal", "normal": true, "ln1": 1, "ln2": 1, "content": " a"},
                {"type": "del", "del": true, "ln": 2, "content": "-b"},
                {"type": "add", "add": true, "ln": 2, "content": "+c"},
            ],
        }],
    }]});
    assert_eq!(serde_json::to_value(tree(&diff)).unwrap(), expect);
    assert_eq!(serde_json::to_value(tree("")).unwrap(), json!({"files": []}));
}

#[test]
fn patch_and_git_apply_the_diff() {
    let cases = [
        ("# A\n\ntext\n\n- x\n- y\n", "# A\n\nother\n\n- y\n- x\n\nend\n"),
        ("", "a\nb\n"),
        ("a\nb\n", ""),
        ("--- a\n+++ b\n@@ -1 +1 @@\n", "--- a\n+++ c\n@@ -1 +1 @@\n\\ No newline at end of file\n"),
    ];
    for (previous, current) in cases {
        let diff = unified(previous, current, &Stop::new()).unwrap();
        for program in [&["patch", "--silent", "previous.md", "d.diff"][..], &["git", "apply", "-p0", "d.diff"]] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("previous.md"), previous).unwrap();
            // Git takes the second name for that of a new file.
            fs::write(folder.path().join("d.diff"), diff.replacen("+++ current.md", "+++ previous.md", 1)).unwrap();
            let mut command = Command::new(program[0]);
            match command.args(&program[1..]).current_dir(folder.path()).status() {
                Ok(status) => assert!(status.success(), "{program:?} {diff}"),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => panic!("{error}"),
            }
            // GNU patch deletes a file that becomes empty.
            assert_eq!(
                fs::read_to_string(folder.path().join("previous.md")).unwrap_or_default(),
                current,
                "{program:?}"
            );
        }
    }
}
