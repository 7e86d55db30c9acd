//! Profiles: cookies and storage that browsers of a team share under a name. What is kept is sealed with a key that is not
//! in the database, and of one profile there is one saver at a time.

mod seal;

use std::time::Duration;

use ::browser::{MAX_STATE_BYTES, State};
use ::scrape::{CpuError, ScrapeError};
use base::{Owner, Stop, Timestamp};
use chrono::TimeDelta;
use store::leases;
use store::profiles::{self as rows, NewState};
use tokio::runtime::Handle;
use tokio::time::Instant;
use wire::{Invalid, Profile};

use crate::auth::Caller;
use crate::{App, AppError};

pub(crate) use seal::Sealer;

/// Most profiles of one team.
const MAX_PROFILES: i64 = 100;
/// Beginning of the names of leases.
pub(crate) const LEASE: &str = "profile:";
/// How long pages of one run may go on saving, after one of them has begun: the longest time that a page may take, and a
/// little.
const RUN_LEASE: TimeDelta = TimeDelta::seconds(360);
/// How long it may take to seal or open a profile, in line for the processor too.
const PATIENCE: Duration = Duration::from_secs(20);

/// Who opens a profile, and for how long it may save.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holder<'a> {
    /// A scrape or a session, until this moment at the latest.
    One(&'a str, Timestamp),
    /// A run: its pages are one saver.
    Run(&'a str),
}

/// A profile that was opened.
pub(crate) struct Opened {
    /// What it held; empty for a new one.
    pub(crate) state: State,
    /// Who saves it, when it is to be saved.
    pub(crate) saver: Option<Saver>,
}

/// The right to save a profile. It ends when this is dropped, and by itself with its time.
pub(crate) struct Saver {
    app: App,
    team: String,
    name: String,
    holder: String,
    lease: String,
    /// Whether others save under the same right, so that it is not given back early.
    is_shared: bool,
}

/// Opens a profile of the caller's team. Without `saveChanges`, and where nothing may be kept (`private`), it is only read.
///
/// # Errors
/// [`AppError::ProfileInUse`] when somebody else may save it now, [`AppError::Invalid`] for one more than a team may have,
/// [`AppError::Internal`] when it cannot be read, [`ScrapeError::Timeout`] when the team has no place for that.
pub(crate) async fn open(
    app: &App,
    caller: &Caller,
    profile: &Profile,
    holder: Holder<'_>,
    private: bool,
) -> Result<Opened, AppError> {
    let team = &caller.team.id;
    // The right first: what another one is about to save would be lost otherwise.
    let saver = match profile.save_changes && !private {
        true => Some(Saver::acquire(app, team, &profile.name, holder).await?),
        false => None,
    };
    let sealed = rows::load(&mut app.conn().await?, team, &profile.name, app.now()).await?;
    let state = match sealed {
        Some(sealed) => {
            let (owner, name) = (team.clone(), profile.name.clone());
            on_thread(app, team, move |sealer| sealer.open(&sealed, &owner, &name)).await??
        }
        None => State::default(),
    };
    Ok(Opened { state, saver })
}

/// Works on all of a profile, which may be large, in one of the team's places for that.
async fn on_thread<T: Send + 'static>(
    app: &App,
    team: &str,
    work: impl FnOnce(&Sealer) -> T + Send + 'static,
) -> Result<T, AppError> {
    let inside = app.clone();
    let work = move |_: &Stop| work(inside.sealer());
    app.tools.cpu.run(&Owner::of_team(team), Instant::now() + PATIENCE, work).await.map_err(|error| match error {
        CpuError::Timeout => ScrapeError::Timeout.into(),
        CpuError::Panicked => AppError::internal(error),
    })
}

impl Saver {
    async fn acquire(app: &App, team: &str, name: &str, holder: Holder<'_>) -> Result<Self, AppError> {
        let mut conn = app.conn().await?;
        if rows::count_others(&mut conn, team, name).await? >= MAX_PROFILES {
            let why =
                format!("would be one more than the {MAX_PROFILES} profiles that a team may have; use one of them");
            return Err(Invalid::at("profile.name", why).into());
        }
        let (id, until, is_shared) = match holder {
            Holder::One(id, until) => (id, until, false),
            Holder::Run(id) => (id, app.now() + RUN_LEASE, true),
        };
        let lease = format!("{LEASE}{team}:{name}");
        if !leases::acquire(&mut conn, &lease, id, app.now(), until).await? {
            return Err(AppError::ProfileInUse);
        }
        let (team, name, holder) = (team.to_owned(), name.to_owned(), id.to_owned());
        Ok(Self { app: app.clone(), team, name, holder, lease, is_shared })
    }

    /// Keeps a state in place of what was there; false when it is too large.
    ///
    /// # Errors
    /// [`AppError::ProfileInUse`] when the time of this saver is over and another may have begun, [`AppError::Internal`],
    /// [`ScrapeError::Timeout`]. What was there stays.
    async fn save(&self, state: State) -> Result<bool, AppError> {
        let Self { app, team, name, holder, lease, .. } = self;
        let (owner, called) = (team.clone(), name.clone());
        let seal = move |sealer: &Sealer| state.fits().then(|| sealer.seal(&state, &owner, &called)).transpose();
        let Some(sealed) = on_thread(app, team, seal).await?? else { return Ok(false) };
        let new = NewState { team, name, state: &sealed, now: app.now() };
        let saved =
            app.conn().await?.tx(async |conn: &mut store::Conn| rows::save(conn, &new, lease, holder).await).await?;
        if saved { Ok(true) } else { Err(AppError::ProfileInUse) }
    }

    /// Keeps a state in place of what was there, at the end of what has succeeded: what cannot be saved is told in the log.
    /// Returns a sentence about it for the caller.
    pub(crate) async fn save_at_end(&self, state: State) -> Option<String> {
        let (team, name) = (self.team.as_str(), self.name.as_str());
        let why = match self.save(state).await {
            Ok(true) => return None,
            Ok(false) => {
                tracing::warn!(team, name, limit = MAX_STATE_BYTES, "profile not saved: it is too large");
                let most = MAX_STATE_BYTES >> 20;
                return Some(format!("the profile was not saved: it would hold more than {most} MiB"));
            }
            Err(AppError::ProfileInUse) => {
                tracing::warn!(team, name, "profile not saved: the time for it was over");
                "the time to save it was over"
            }
            Err(error) => {
                tracing::warn!(?error, team, name, "profile not saved");
                "it could not be written"
            }
        };
        Some(format!("the profile was not saved: {why}"))
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        // Outside a runtime, as at the very end of a process, the lease ends with its time.
        let Some(runtime) = Handle::try_current().ok().filter(|_| !self.is_shared) else { return };
        let (app, lease, holder) = (self.app.clone(), self.lease.clone(), self.holder.clone());
        let release = async move {
            let released = async { leases::release(&mut app.store.conn().await?, &lease, &holder).await };
            if let Err(error) = released.await {
                tracing::debug!(%error, "lease of a profile not given back, it will end");
            }
        };
        self.app.tracker.spawn_on(release, &runtime);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::runs::tests::app;

    #[tokio::test]
    async fn profiles_are_sealed_and_opened_where_work_is_done() {
        let (app, caller, _folder) = app().await;
        let profile = Profile { name: "shop".to_owned(), save_changes: true };
        let holder = Holder::One("a", app.now() + TimeDelta::seconds(60));
        let before = app.tools.cpu.trips();
        let opened = open(&app, &caller, &profile, holder, false).await.unwrap();
        assert!(opened.state.cookies.is_empty() && app.tools.cpu.trips() == before, "there is none yet");
        let saver = opened.saver.unwrap();
        let state = State { cookies: vec![json!({ "name": "sid" })], origins: Vec::new() };
        assert!(saver.save(state).await.unwrap());
        let large = State { cookies: vec!["x".repeat(MAX_STATE_BYTES).into()], origins: Vec::new() };
        assert!(!saver.save(large).await.unwrap());
        assert_eq!(app.tools.cpu.trips(), before + 2);
        let opened = open(&app, &caller, &profile, holder, true).await.unwrap();
        assert_eq!(opened.state.cookies, [json!({ "name": "sid" })]);
        assert_eq!(app.tools.cpu.trips(), before + 3);
    }
}
