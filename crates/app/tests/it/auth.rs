//! Authentication: the team that a call runs as.

use std::time::Duration;

use app::auth::authenticate;
use app::{AppError, AuthMode, DEFAULT_TEAM, Settings, keys, teams};
use wire::{CreateTeam, ModelLimits, TeamFlags, UpdateTeam};

use crate::world::World;

async fn with_key(mode: AuthMode) -> (World, String, String) {
    let world = World::with(Settings { auth: mode, ..Settings::default() }).await;
    let flags = TeamFlags::default();
    let request = CreateTeam {
        name: "a".into(),
        credits: Some(1),
        concurrency: None,
        rate_limit: None,
        flags,
        addresses: Vec::new(),
        model_limits: ModelLimits::default(),
        max_monitors: None,
        partner_grant: None,
        alert_emails: Vec::new(),
        chat_channels: Vec::new(),
    };
    let created = teams::create(&world.app, request).await.unwrap();
    (world, created.api_key, created.team_id.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn open_mode_takes_everybody() {
    let (world, key, team) = with_key(AuthMode::Open).await;
    for token in [None, Some(""), Some("  "), Some("undefined"), Some("fc-definitely-wrong")] {
        let caller = authenticate(&world.app, token).await.unwrap();
        assert_eq!((caller.team.id.as_str(), caller.key), (DEFAULT_TEAM, None), "{token:?}");
        assert!(caller.team.unlimited);
    }
    let caller = authenticate(&world.app, Some(&key)).await.unwrap();
    assert_eq!((caller.team.id, caller.key.is_some()), (team, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_mode_takes_known_keys() {
    let (world, key, team) = with_key(AuthMode::Keys).await;
    for token in [None, Some(""), Some("undefined"), Some("fc-definitely-wrong"), Some(&key[..66])] {
        let refused = authenticate(&world.app, token).await;
        assert!(matches!(refused, Err(AppError::Unauthorized(_))), "{token:?}");
    }
    let caller = authenticate(&world.app, Some(&format!(" {key} "))).await.unwrap();
    assert_eq!(caller.team.id, team);
    keys::revoke(&world.app, caller.key.unwrap().parse().unwrap()).await.unwrap();
    assert!(matches!(authenticate(&world.app, Some(&key)).await, Err(AppError::Unauthorized(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_does_not_become_the_default_team() {
    let (world, key, _) = with_key(AuthMode::Open).await;
    let caller = authenticate(&world.app, Some(&key)).await.unwrap();
    keys::revoke(&world.app, caller.key.unwrap().parse().unwrap()).await.unwrap();
    assert!(matches!(authenticate(&world.app, Some(&key)).await, Err(AppError::Unauthorized(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_use_of_a_key_is_noted() {
    let (world, key, team) = with_key(AuthMode::Keys).await;
    let last = async || {
        // The time of last use is written after the call returns.
        world.parts.tracker.close();
        world.parts.tracker.wait().await;
        world.parts.tracker.reopen();
        let listed = keys::list(&world.app, team.parse().unwrap(), None, 10).await.unwrap();
        listed.data[0].last_used_at.map(|at| at.to_rfc3339())
    };
    assert_eq!(last().await, None);
    authenticate(&world.app, Some(&key)).await.unwrap();
    assert_eq!(last().await.as_deref(), Some("2026-01-01T00:00:00+00:00"));
    world.clock.advance(Duration::from_secs(30));
    authenticate(&world.app, Some(&key)).await.unwrap();
    assert_eq!(last().await.as_deref(), Some("2026-01-01T00:00:00+00:00"));
    world.clock.advance(Duration::from_secs(31));
    authenticate(&world.app, Some(&key)).await.unwrap();
    assert_eq!(last().await.as_deref(), Some("2026-01-01T00:01:01+00:00"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_changes_counts_after_a_second() {
    let (world, key, _) = with_key(AuthMode::Keys).await;
    let other = world.another(Settings { auth: AuthMode::Keys, ..Settings::default() }).await;
    let caller = authenticate(&other.app, Some(&key)).await.unwrap();
    keys::revoke(&world.app, caller.key.unwrap().parse().unwrap()).await.unwrap();
    world.clock.advance(Duration::from_millis(999));
    authenticate(&other.app, Some(&key)).await.unwrap();
    world.clock.advance(Duration::from_millis(1));
    assert!(matches!(authenticate(&other.app, Some(&key)).await, Err(AppError::Unauthorized(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_changed_here_counts_at_once() {
    let (world, key, team) = with_key(AuthMode::Keys).await;
    let concurrency = async || authenticate(&world.app, Some(&key)).await.unwrap().team.concurrency;
    let before = concurrency().await;
    let wider = UpdateTeam { concurrency: Some(77), ..UpdateTeam::default() };
    teams::update(&world.app, team.parse().unwrap(), wider).await.unwrap();
    assert_ne!(before, 77);
    assert_eq!(concurrency().await, 77);
}
