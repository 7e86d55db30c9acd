//! Log lines about an endpoint that refuses every call.

use std::io::Write;
use std::sync::{Arc, Mutex};

use llm::{AskError, Kind};
use testkit::ModelFault;

use crate::world::{KEY, World};

/// Captured log of a thread.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn with(&self, text: &str) -> Vec<String> {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

fn listen() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    (lines, tracing::subscriber::set_default(subscriber))
}

#[tokio::test]
async fn a_key_that_is_not_accepted_has_one_line_and_not_one_for_each_call() {
    let (lines, _guard) = listen();
    let world = World::of(Kind::OpenAi, |_| {}).await;
    world.server.fail_with(vec![ModelFault::Status(401); 5]);
    for _ in 0..5 {
        assert_eq!(world.ask().await.unwrap_err(), AskError::Unauthorized { status: 401 });
    }
    let found = lines.with("the model cannot be used");
    assert!(found.len() == 1 && found[0].contains("check llm.key") && !found[0].contains(KEY), "{found:#?}");
    // Another endpoint has a line of its own.
    let other = World::of(Kind::OpenAi, |_| {}).await;
    other.server.fail_with(vec![ModelFault::Status(403)]);
    other.ask().await.unwrap_err();
    assert_eq!(lines.with("the model cannot be used").len(), 2);
}
