//! Private jobs: nothing that they fetched is kept.

use app::{AppError, RunsError};

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_private_job_that_is_stopped_nothing_is_left() {
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|seen| match seen.path.as_str() {
        "/secretslow" => Some(Reply { delay: Duration::from_secs(20), ..html("<p>slow") }),
        _ => Some(large(3, "")),
    });
    let body = json!({"urls": [jobs.url("/secret"), jobs.url("/secretslow")], "zeroDataRetention": true});
    let id = jobs.batch(body).await.unwrap();
    jobs.work();
    while jobs.status(&batch::KIND, id).await.completed == 0 {
        sleep(Duration::from_millis(10)).await;
    }
    runs::cancel(&jobs.world.runs, &jobs.caller, &batch::KIND, id).await.unwrap();
    let after = jobs.status(&batch::KIND, id).await;
    assert_eq!((after.status, after.completed, after.credits_used), (JobStatus::Cancelled, 0, 1));
    assert!(after.documents.is_empty() && after.next_skip.is_none());
    jobs.nothing_says("secret", id).await;
    jobs.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_job_that_has_ended_is_erased_on_demand() {
    log::expect_errors();
    fail::cfg("commit_poison", "return").unwrap();
    let mut jobs = Jobs::new(100).await;
    jobs.world.site.others(|_| Some(html("<p>words")));
    let body = json!({"urls": [jobs.url("/secret"), jobs.url("/secretpoison")], "zeroDataRetention": true});
    let id = jobs.batch(body).await.unwrap();
    jobs.work();
    assert_eq!(jobs.ended(&batch::KIND, id).await.completed, 1);
    let mut conn = jobs.world.parts.store.conn().await.unwrap();
    assert_eq!(jobs::dead(&mut conn, None, 9).await.unwrap(), [], "no dead letter holds its URL");
    drop(conn);
    let again = runs::cancel(&jobs.world.runs, &jobs.caller, &batch::KIND, id).await;
    assert!(matches!(again, Err(RunsError::JobFinished)));
    let gone = runs::cancel(&jobs.world.runs, &jobs.caller, &batch::KIND, id).await;
    assert!(matches!(gone, Err(RunsError::App(AppError::NotFound(_)))));
    jobs.nothing_says("secret", id).await;
    jobs.end().await;
}

impl Jobs {
    /// Asserts that neither the rows nor the blobs of a job contain the text.
    async fn nothing_says(&self, text: &str, id: Uuid) {
        let (id, mut conn) = (id.to_string(), self.world.parts.store.conn().await.unwrap());
        let row = store::runs::find(&mut conn, &id).await.unwrap();
        assert!(!format!("{row:?}").contains(text), "{row:?}");
        assert_eq!(store::runs::documents(&mut conn, &id, 0, 9).await.unwrap(), []);
        for state in [PageState::Failed, PageState::Blocked, PageState::Done, PageState::Queued] {
            assert_eq!(store::runs::listed(&mut conn, &id, state, "", 9).await.unwrap(), []);
        }
        assert_eq!(store::runs::first_piece(&mut conn, &id).await.unwrap(), None);
        assert_eq!(self.waiting(id.parse().unwrap()).await, Vec::<String>::new());
        assert_eq!(self.bodies().len(), 0);
    }
}
