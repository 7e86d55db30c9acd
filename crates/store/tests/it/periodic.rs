//! Last runs of periodic tasks.

use store::Store;
use store::periodic::{self, TaskRun};

use crate::{at, suite};

suite!(the_last_run_of_each_task_is_kept);

async fn the_last_run_of_each_task_is_kept(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let failed = TaskRun {
        name: "sweep".to_owned(),
        started_at: at(1),
        duration_ms: 20,
        status: "failed".to_owned(),
        details: "{}".to_owned(),
        error: Some("no room".to_owned()),
        next_at: at(61),
    };
    let other = TaskRun { name: "probe".to_owned(), ..failed.clone() };
    let done = TaskRun {
        started_at: at(61),
        status: "done".to_owned(),
        details: r#"{"removed":3}"#.to_owned(),
        error: None,
        next_at: at(121),
        ..failed.clone()
    };
    for run in [failed, other.clone(), done.clone()] {
        periodic::keep(&mut conn, run).await.unwrap();
    }
    assert_eq!(periodic::all(&mut conn).await.unwrap(), [other, done]);
}
