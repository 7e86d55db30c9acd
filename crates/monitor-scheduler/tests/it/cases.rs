//! The case files.

use serde_json::Value;

use crate::judge::judge_all;

const CRON: &str = include_str!("../../../../tests/cases/cron_dst_cases.json");
const TEXT: &str = include_str!("../../../../tests/cases/schedule_text_cases.json");

#[test]
fn all_scored_cases_pass() {
    for (file, passed) in [(CRON, 89), (TEXT, 128)] {
        let file: Value = serde_json::from_str(file).unwrap();
        let tally = judge_all(&file);
        assert_eq!(tally.failed, Vec::<String>::new());
        assert!(tally.passed >= passed, "{} passed, {} left out", tally.passed, tally.left_out);
    }
}
