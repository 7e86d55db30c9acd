//! Administration: teams, credits, keys.

use app::{AppError, keys, teams};
use uuid::Uuid;
use wire::{CreateKey, CreateTeam, FlagChanges, ModelLimitChanges, ModelLimits, TeamFlags, UpdateTeam};

use crate::world::World;

fn named(name: &str, credits: Option<i64>) -> CreateTeam {
    let flags = TeamFlags::default();
    let (addresses, model_limits) = (Vec::new(), ModelLimits::default());
    CreateTeam {
        name: name.into(),
        credits,
        concurrency: None,
        rate_limit: None,
        flags,
        addresses,
        model_limits,
        max_monitors: None,
        partner_grant: None,
        alert_emails: Vec::new(),
        chat_channels: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_from_birth_to_change() {
    let world = World::start().await;
    let flags = TeamFlags { catalog: true, ..TeamFlags::default() };
    let request = CreateTeam { concurrency: Some(3), rate_limit: Some(60), flags, ..named("a", Some(10)) };
    let created = teams::create(&world.app, request).await.unwrap();
    assert!(created.api_key.starts_with("fc-"));
    let team = teams::read(&world.app, created.team_id).await.unwrap();
    assert_eq!((team.name.as_str(), team.unlimited, team.available), ("a", false, Some(10)));
    assert_eq!((team.concurrency, team.rate_limit, team.flags), (3, 60, flags));

    let flags = Some(FlagChanges { enterprise: Some(true), ..FlagChanges::default() });
    let change = UpdateTeam { name: Some("b".into()), add_credits: Some(5), flags, ..UpdateTeam::default() };
    let changed = teams::update(&world.app, created.team_id, change).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.available, changed.concurrency), ("b", Some(15), 3));
    assert!(changed.flags.enterprise && changed.flags.catalog);
    assert_eq!(teams::read(&world.app, created.team_id).await.unwrap(), changed);

    let limit = |tokens_per_day, cost_per_day| UpdateTeam {
        model_limits: Some(ModelLimitChanges { tokens_per_day, cost_per_day }),
        ..UpdateTeam::default()
    };
    let limited = teams::update(&world.app, created.team_id, limit(Some(Some(500)), Some(Some(0.125)))).await.unwrap();
    let want = ModelLimits { tokens_per_day: Some(500), cost_per_day: Some(0.125) };
    assert_eq!((limited.model_limits, team.model_limits), (want, ModelLimits::default()));
    let common = teams::update(&world.app, created.team_id, limit(Some(None), None)).await.unwrap();
    assert_eq!(common.model_limits, ModelLimits { tokens_per_day: None, ..want });

    let change = UpdateTeam { unlimited: Some(true), ..UpdateTeam::default() };
    let free = teams::update(&world.app, created.team_id, change).await.unwrap();
    assert_eq!((free.unlimited, free.available), (true, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn defaults_and_unknown_teams() {
    let world = World::start().await;
    let team = teams::create(&world.app, named("a", None)).await.unwrap();
    let team = teams::read(&world.app, team.team_id).await.unwrap();
    assert_eq!((team.unlimited, team.concurrency, team.rate_limit), (true, 100, 0));
    let nobody = Uuid::nil();
    let not_found = |error: AppError| assert!(matches!(error, AppError::NotFound("team")), "{error}");
    not_found(teams::read(&world.app, nobody).await.unwrap_err());
    let credits = UpdateTeam { add_credits: Some(1), ..UpdateTeam::default() };
    not_found(teams::update(&world.app, nobody, credits).await.unwrap_err());
    not_found(keys::create(&world.app, nobody, CreateKey::new("x")).await.unwrap_err());
    not_found(keys::list(&world.app, nobody, None, 10).await.unwrap_err());
    assert!(matches!(keys::revoke(&world.app, nobody).await, Err(AppError::NotFound(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_in_pages() {
    let world = World::start().await;
    for name in ["a", "b", "c"] {
        teams::create(&world.app, named(name, Some(0))).await.unwrap();
    }
    let first = teams::list(&world.app, None, 2).await.unwrap();
    let names: Vec<&str> = first.data.iter().map(|team| team.name.as_str()).collect();
    assert_eq!(names, ["default", "a"]);
    let rest = teams::list(&world.app, first.next, 3).await.unwrap();
    let names: Vec<&str> = rest.data.iter().map(|team| team.name.as_str()).collect();
    assert_eq!((names.as_slice(), rest.next), (["b", "c"].as_slice(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_shown_once() {
    let world = World::start().await;
    let team = teams::create(&world.app, named("a", None)).await.unwrap().team_id;
    let made = keys::create(&world.app, team, CreateKey::new("ci")).await.unwrap();
    let listed = keys::list(&world.app, team, None, 10).await.unwrap().data;
    let names: Vec<&str> = listed.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names, ["default", "ci"]);
    assert_eq!((listed[1].id, listed[1].hint.as_str()), (made.key_id, &made.api_key[63..]));
    assert!(!world.stored(&made.api_key));
    keys::revoke(&world.app, made.key_id).await.unwrap();
    assert!(matches!(keys::revoke(&world.app, made.key_id).await, Err(AppError::NotFound(_))));
    let listed = keys::list(&world.app, team, None, 10).await.unwrap().data;
    assert!(listed[0].revoked_at.is_none() && listed[1].revoked_at.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn starting_again_changes_nothing() {
    let world = World::start().await;
    let id = app::DEFAULT_TEAM.parse().unwrap();
    let change = UpdateTeam { unlimited: Some(false), add_credits: Some(7), ..UpdateTeam::default() };
    let changed = teams::update(&world.app, id, change).await.unwrap();
    world.app.bootstrap().await.unwrap();
    assert_eq!(teams::read(&world.app, id).await.unwrap(), changed);
}
