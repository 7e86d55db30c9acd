//! Pools for tests, and inspection of processes from outside.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use documents::{ImageKind, Kind};
use reader::{Answer, Job, Options, Pool, ReadError, Settings};
use tokio::time::Instant;

/// Returns the path of one of our examples, beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples").join(name)
}

pub(crate) fn settings() -> Settings {
    Settings { reader: Some(example("reading_child")), children: 2, memory: 256 << 20, ..Settings::default() }
}

pub(crate) fn pool() -> Pool {
    Pool::new(settings()).unwrap()
}

pub(crate) fn job(bytes: impl Into<Vec<u8>>, kind: Kind) -> Job {
    Job { bytes: bytes.into().into(), kind, owner: base::Owner::of_team("test"), options: Options::default() }
}

/// Returns an image whose text the fake OCR of the child obeys; see the example `reading_child`.
pub(crate) fn orders(text: &str) -> Job {
    job(text, Kind::Image(ImageKind::Png))
}

pub(crate) fn pdf(text: &str) -> Job {
    job(documents::sample(text), Kind::Pdf)
}

pub(crate) fn after(seconds: f32) -> Instant {
    Instant::now() + Duration::from_secs_f32(seconds)
}

/// Reads a document without payment.
pub(crate) async fn read(pool: &Pool, job: Job, deadline: Instant) -> Result<Answer, ReadError<()>> {
    pool.read(job, deadline, async |_| Ok(())).await
}

/// Checks that another document can still be read.
pub(crate) async fn works(pool: &Pool) {
    let answer = read(pool, pdf("All is well."), after(20.0)).await.unwrap();
    assert_eq!(answer.markdown, "All is well.");
}

/// Returns the ids of the live children of a process.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(|pid| stat(*pid).is_some_and(|(state, its)| its == parent && state != 'Z')).collect()
}

pub(crate) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}

/// Returns state and parent of a process.
fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Returns the nice value of a process.
pub(crate) fn nice(pid: u32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    // The state is the third field of the file, and the nice value the nineteenth.
    rest.split(' ').nth(16)?.parse().ok()
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = after(10.0);
    while !is() {
        assert!(Instant::now() < end, "still not so after 10 s: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
