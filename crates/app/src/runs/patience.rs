//! What becomes of the jobs of runs while a part of the deployment is away or full: they wait, and cost nothing meanwhile.

use chrono::TimeDelta;
use queue::{Failure, Running};

use crate::{App, AppError, room};

/// How long a job waits before it looks again whether what it needs is back.
pub(crate) const PAUSE: TimeDelta = TimeDelta::seconds(15);
/// The longest pause of a job that has to ask its site again.
const LONGEST_PAUSE: TimeDelta = TimeDelta::minutes(15);
/// How long a job waits without an attempt that counts.
const PATIENCE: TimeDelta = TimeDelta::hours(24);

/// Whether what a page brings can be kept.
///
/// # Errors
/// The outage that prevents it.
pub(super) async fn can_keep(app: &App) -> Result<(), AppError> {
    room::check(app)?;
    Ok(app.blobs.check().await?)
}

/// Another try, after `pause` when an outage is to blame: such a try does not count on the first day of the job.
pub(crate) fn again<P>(app: &App, job: &Running<P>, error: &AppError, pause: TimeDelta) -> Failure {
    if !error.is_outage() {
        return Failure::retry(format!("{error:?}"));
    }
    Failure::Retry {
        at: Some(app.now() + pause),
        error: error.to_string(),
        answer: None,
        counted: age(app, job) >= PATIENCE,
    }
}

/// Whether this error is the end of the job: an outage at the last try that counts.
pub(super) fn is_end<P>(app: &App, job: &Running<P>, error: &AppError) -> bool {
    error.is_outage() && age(app, job) >= PATIENCE && job.attempt >= job.max_attempts
}

/// The pause before the site is asked the same once more: the older the job, the longer.
pub(crate) fn refetch_pause<P>(app: &App, job: &Running<P>) -> TimeDelta {
    (age(app, job) / 4).clamp(PAUSE, LONGEST_PAUSE)
}

fn age<P>(app: &App, job: &Running<P>) -> TimeDelta {
    app.now() - job.created_at
}

#[cfg(test)]
mod tests {
    use queue::{Asking, Payload};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::runs::PagePayload;
    use crate::runs::tests::app;

    /// The job of a page at this attempt, added so long ago.
    fn job(app: &App, attempt: i32, age: TimeDelta) -> Running<PagePayload> {
        let (crawl, url) = ("run".to_owned(), "https://a.test/".to_owned());
        Running {
            id: "page".to_owned(),
            team_id: "team".to_owned(),
            lane: crawl.clone(),
            attempt,
            max_attempts: PagePayload::ATTEMPTS,
            created_at: app.now() - age,
            payload: PagePayload { crawl, depth: 0, parent: None, url },
            asking: Asking::default(),
            cancelled: CancellationToken::new(),
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tries_count_from_the_second_day_on() {
        let (app, _, _folder) = app().await;
        let (hour, last) = (TimeDelta::hours(1), PagePayload::ATTEMPTS);
        let check = |attempt, age, is_counted, is_last| {
            let job = job(&app, attempt, age);
            let error = AppError::StorageFull;
            let Failure::Retry { at, counted, .. } = again(&app, &job, &error, PAUSE) else {
                panic!("{attempt} {age}");
            };
            assert!(at.is_some_and(|at| at > app.now()), "{attempt} {age}");
            assert_eq!((counted, is_end(&app, &job, &error)), (is_counted, is_last), "{attempt} {age}");
        };
        check(1, hour, false, false);
        check(last, hour, false, false);
        check(1, hour * 30, true, false);
        check(last, hour * 30, true, true);
        // What is no outage counts at any age, and comes again after the queue's own pause.
        let (ours, old) = (AppError::internal("on purpose"), job(&app, last, hour * 30));
        assert!(matches!(again(&app, &old, &ours, PAUSE), Failure::Retry { at: None, counted: true, .. }));
        assert!(!is_end(&app, &old, &ours));
        app.drain().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_site_is_asked_again_ever_more_seldom() {
        let (app, _, _folder) = app().await;
        let pause = |age| refetch_pause(&app, &job(&app, 1, age));
        assert_eq!(pause(TimeDelta::seconds(1)), PAUSE);
        let young = pause(TimeDelta::minutes(20));
        assert!(young >= TimeDelta::minutes(5) && young < TimeDelta::minutes(6), "{young}");
        assert_eq!(pause(TimeDelta::hours(20)), LONGEST_PAUSE);
        app.drain().await;
    }
}
