//! Retry rules of run jobs during an outage or while storage is full: they wait without using up attempts.

use chrono::TimeDelta;
use kernel::{App, AppError, Refusal, room};
use queue::{Failure, Running};

/// Pause before a job checks again whether the outage is over.
pub const PAUSE: TimeDelta = TimeDelta::seconds(15);
/// Maximum pause of a job that has to ask its site again.
const LONGEST_PAUSE: TimeDelta = TimeDelta::minutes(15);
/// Age up to which attempts that fail by an outage are not counted.
const PATIENCE: TimeDelta = TimeDelta::hours(24);

/// Checks that the result of a page can be stored.
///
/// # Errors
/// The outage or the lack of space that prevents it.
pub(super) async fn can_keep(app: &App) -> Result<(), AppError> {
    room::check(app)?;
    Ok(app.blobs().check().await?)
}

/// Returns a retry, after `pause` if an outage is the cause: such an attempt does not count during the first 24 hours
/// of the job.
pub fn again<P>(app: &App, job: &Running<P>, error: &dyn Refusal, pause: TimeDelta) -> Failure {
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

/// Returns a retry of a page whose language model has not answered: after the queue's own pause at first, then as when the
/// site is asked again. It counts, and costs nothing.
pub(super) fn model_again<P>(app: &App, job: &Running<P>, error: &dyn Refusal) -> Failure {
    let at = (job.attempt > 1).then(|| app.now() + refetch_pause(app, job));
    Failure::Retry { at, error: error.to_string(), answer: None, counted: true }
}

/// Whether this error ends the job: an outage at the last counted attempt.
pub(super) fn is_end<P>(app: &App, job: &Running<P>, error: &dyn Refusal) -> bool {
    error.is_outage() && age(app, job) >= PATIENCE && job.attempt >= job.max_attempts
}

/// Returns the pause before the site is asked the same again: a quarter of the job's age, within bounds.
pub fn refetch_pause<P>(app: &App, job: &Running<P>) -> TimeDelta {
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
    use crate::PagePayload;
    use crate::fixture::app;

    /// Returns a page job at this attempt and of this age.
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
        // Other errors count at any age, and are retried after the queue's own pause.
        let (ours, old) = (AppError::internal("on purpose"), job(&app, last, hour * 30));
        assert!(matches!(again(&app, &old, &ours, PAUSE), Failure::Retry { at: None, counted: true, .. }));
        assert!(!is_end(&app, &old, &ours));
        app.drain().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_model_is_asked_again_soon_and_then_later() {
        let (app, _, _folder) = app().await;
        let at = |attempt| match model_again(&app, &job(&app, attempt, TimeDelta::seconds(9)), &AppError::Timeout) {
            Failure::Retry { at, counted: true, .. } => at,
            other => panic!("{other:?}"),
        };
        assert!(at(1).is_none() && at(2).is_some_and(|at| at > app.now() + TimeDelta::seconds(10)));
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
