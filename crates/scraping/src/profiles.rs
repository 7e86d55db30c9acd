//! Profiles: cookies and storage that browsers of a team share under a name. They are encrypted with a key that is not
//! in the database, and each profile has one saver at a time.

mod seal;

use std::time::Duration;

use ::scrape::CpuError;
use base::{Owner, Stop, Timestamp};
use chrono::TimeDelta;
use fetch::{MAX_STATE_BYTES, State};
use kernel::AppError;
use kernel::auth::Caller;
use store::leases;
use store::profiles::{self as rows, NewState};
use tokio::runtime::Handle;
use tokio::time::Instant;
use wire::{Invalid, Profile};

use crate::{Scraper, ScrapingError};

pub(crate) use seal::Sealer;

/// Maximum number of profiles of one team.
const MAX_PROFILES: i64 = 100;
/// Prefix of lease names.
pub const LEASE: &str = "profile:";
/// Lease of a run: the maximum duration of a page plus a margin, after which the run's pages may no longer save.
const RUN_LEASE: TimeDelta = TimeDelta::seconds(360);
/// Timeout for encrypting or decrypting a profile, including the wait for a CPU slot.
const PATIENCE: Duration = Duration::from_secs(20);

/// Holder of a profile, and the limit of its right to save.
#[derive(Debug, Clone, Copy)]
pub enum Holder<'a> {
    /// Scrape or session, until this moment at the latest.
    One(&'a str, Timestamp),
    /// Run; its pages share one right to save.
    Run(&'a str),
}

/// Opened profile.
pub struct Opened {
    /// Stored state; empty for a new profile.
    pub state: State,
    /// Right to save it, if it is to be saved.
    pub saver: Option<Saver>,
}

/// Right to save a profile: a lease that ends on drop, or by its expiry.
pub struct Saver {
    scraper: Scraper,
    team: String,
    name: String,
    holder: String,
    lease: String,
    /// Whether others share the lease, so that it must not be released early.
    is_shared: bool,
}

/// Opens a profile of the caller's team. It is read-only without `saveChanges`, and where nothing may be kept
/// (`private`).
///
/// # Errors
/// [`ScrapingError::ProfileInUse`] when another holder may save it now, [`AppError::Invalid`] when the team has too many
/// profiles, [`AppError::Internal`] when the profile cannot be read, [`AppError::Timeout`] when no CPU slot of the
/// team gets free.
pub async fn open(
    scraper: &Scraper,
    caller: &Caller,
    profile: &Profile,
    holder: Holder<'_>,
    private: bool,
) -> Result<Opened, ScrapingError> {
    let (app, team) = (scraper.app(), &caller.team.id);
    // Acquire the lease before reading, or changes that another holder is about to save would be lost.
    let saver = match profile.save_changes && !private {
        true => Some(Saver::acquire(scraper, team, &profile.name, holder).await?),
        false => None,
    };
    let sealed = rows::load(&mut app.conn().await?, team, &profile.name, app.now()).await?;
    let state = match sealed {
        Some(sealed) => {
            let (owner, name) = (team.clone(), profile.name.clone());
            on_thread(scraper, team, move |sealer| sealer.open(&sealed, &owner, &name)).await??
        }
        None => State::default(),
    };
    Ok(Opened { state, saver })
}

/// Runs work on a whole profile, which may be large, in one of the team's CPU slots.
async fn on_thread<T: Send + 'static>(
    scraper: &Scraper,
    team: &str,
    work: impl FnOnce(&Sealer) -> T + Send + 'static,
) -> Result<T, ScrapingError> {
    let inside = scraper.clone();
    let work = move |_: &Stop| work(inside.sealer());
    scraper.tools().cpu.run(&Owner::of_team(team), Instant::now() + PATIENCE, work).await.map_err(|error| match error {
        CpuError::Timeout => AppError::Timeout.into(),
        CpuError::Panicked => AppError::internal(error).into(),
    })
}

impl Saver {
    async fn acquire(scraper: &Scraper, team: &str, name: &str, holder: Holder<'_>) -> Result<Self, ScrapingError> {
        let app = scraper.app();
        let mut conn = app.conn().await?;
        if rows::count_others(&mut conn, team, name).await? >= MAX_PROFILES {
            let why = format!("would exceed the limit of {MAX_PROFILES} profiles per team; use an existing one");
            return Err(Invalid::at("profile.name", why).into());
        }
        let (id, until, is_shared) = match holder {
            Holder::One(id, until) => (id, until, false),
            Holder::Run(id) => (id, app.now() + RUN_LEASE, true),
        };
        let lease = format!("{LEASE}{team}:{name}");
        if !leases::acquire(&mut conn, &lease, id, app.now(), until).await? {
            return Err(ScrapingError::ProfileInUse);
        }
        let (team, name, holder) = (team.to_owned(), name.to_owned(), id.to_owned());
        Ok(Self { scraper: scraper.clone(), team, name, holder, lease, is_shared })
    }

    /// Replaces the stored state; returns `false` when the new one is too large.
    ///
    /// # Errors
    /// [`ScrapingError::ProfileInUse`] when the lease has expired and another holder may have started,
    /// [`AppError::Internal`], [`AppError::Timeout`]. The stored state is then unchanged.
    async fn save(&self, state: State) -> Result<bool, ScrapingError> {
        let Self { scraper, team, name, holder, lease, .. } = self;
        let (owner, called) = (team.clone(), name.clone());
        let seal = move |sealer: &Sealer| state.fits().then(|| sealer.seal(&state, &owner, &called)).transpose();
        let Some(sealed) = on_thread(scraper, team, seal).await?? else { return Ok(false) };
        let app = scraper.app();
        let new = NewState { team, name, state: &sealed, now: app.now() };
        let saved =
            app.conn().await?.tx(async |conn: &mut store::Conn| rows::save(conn, &new, lease, holder).await).await?;
        if saved { Ok(true) } else { Err(ScrapingError::ProfileInUse) }
    }

    /// Replaces the stored state after a successful scrape or session. A failure is logged; the returned text is a
    /// warning for the caller.
    #[crate::boxed]
    pub async fn save_at_end(&self, state: State) -> Option<String> {
        let (team, name) = (self.team.as_str(), self.name.as_str());
        let why = match self.save(state).await {
            Ok(true) => return None,
            Ok(false) => {
                tracing::warn!(team, name, limit = MAX_STATE_BYTES, "profile not saved: it exceeds the size limit");
                let most = MAX_STATE_BYTES >> 20;
                return Some(format!("the profile was not saved: it would hold more than {most} MiB"));
            }
            Err(ScrapingError::ProfileInUse) => {
                tracing::warn!(team, name, "profile not saved: its lease has expired");
                "the time to save it has expired"
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
        // Without a runtime, as at process exit, the lease is not released: it expires.
        let Some(runtime) = Handle::try_current().ok().filter(|_| !self.is_shared) else { return };
        let (app, lease, holder) = (self.scraper.app().clone(), self.lease.clone(), self.holder.clone());
        let release = async move {
            let released = async { leases::release(&mut app.store().conn().await?, &lease, &holder).await };
            if let Err(error) = released.await {
                tracing::debug!(%error, "could not release the lease of a profile; it will expire");
            }
        };
        self.scraper.app().tracker().spawn_on(release, &runtime);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::scraper;

    #[tokio::test]
    async fn profiles_are_sealed_and_opened_where_work_is_done() {
        let (scraper, caller, _folder) = scraper().await;
        let profile = Profile { name: "shop".to_owned(), save_changes: true };
        let holder = Holder::One("a", scraper.app().now() + TimeDelta::seconds(60));
        let before = scraper.tools().cpu.trips();
        let opened = open(&scraper, &caller, &profile, holder, false).await.unwrap();
        assert!(opened.state.cookies.is_empty() && scraper.tools().cpu.trips() == before, "there is none yet");
        let saver = opened.saver.unwrap();
        let state = State { cookies: vec![json!({ "name": "sid" })], origins: Vec::new() };
        assert!(saver.save(state).await.unwrap());
        let large = State { cookies: vec!["x".repeat(MAX_STATE_BYTES).into()], origins: Vec::new() };
        assert!(!saver.save(large).await.unwrap());
        assert_eq!(scraper.tools().cpu.trips(), before + 2);
        let opened = open(&scraper, &caller, &profile, holder, true).await.unwrap();
        assert_eq!(opened.state.cookies, [json!({ "name": "sid" })]);
        assert_eq!(scraper.tools().cpu.trips(), before + 3);
    }
}
