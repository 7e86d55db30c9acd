//! Processes that are killed while they write.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use page_index::{PageIndex, Settings};
use tempfile::TempDir;

use crate::page;

/// Folder that this program writes to without end, when it is started for that.
const ROLE: &str = "PAGE_INDEX_TEST_FOLDER";

#[test]
#[expect(clippy::disallowed_methods, reason = "this program as a child of itself")]
fn writes_until_it_is_killed() {
    let Ok(folder) = std::env::var(ROLE) else { return };
    let index = PageIndex::open(folder.as_ref(), Settings::default()).unwrap();
    let mut writer = index.writer().unwrap();
    let start: usize = index.stats().unwrap().place.map_or(0, |place| place.parse().unwrap());
    for number in start.. {
        writer
            .put(&page(&format!("https://a{number}.org/{number}"), "Page", &format!("number{number} apple")))
            .unwrap();
        if number % 10 == 9 {
            writer.commit(&(number + 1).to_string()).unwrap();
            println!("\ncommitted {}", number + 1);
        }
    }
}

#[test]
fn what_was_committed_outlasts_a_kill() {
    let folder = TempDir::new().unwrap();
    for round in 0..5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::writes_until_it_is_killed", "--nocapture"])
            .env(ROLE, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut committed =
            lines.filter_map(|line| line.strip_prefix("committed ").and_then(|n| n.parse::<u64>().ok()));
        let told = committed.by_ref().take(2 + round).last().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();

        let index = PageIndex::open(folder.path(), Settings::default()).unwrap();
        let stats = index.stats().unwrap();
        let place: u64 = stats.place.unwrap().parse().unwrap();
        assert!(place >= told && stats.pages == place, "{told} {place} {}", stats.pages);
        // The lock went with the process.
        drop(index.writer().unwrap());
    }
}
