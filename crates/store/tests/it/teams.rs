//! Teams.

use store::teams::{self, Team, TeamChange};
use store::{List, Store};

use crate::{at, suite};

suite!(a_team_comes_back_as_it_was, a_change_leaves_the_rest, lists_are_paged_by_id, one_of_many_creates_it);

async fn a_team_comes_back_as_it_was(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let team = Team {
        unlimited: true,
        concurrency: 7,
        rate_per_minute: 90,
        zero_data_retention: true,
        enterprise: true,
        catalog: true,
        addresses: Some(List(vec!["10.0.0.0/8".to_owned(), "2001:db8::/32".to_owned()])),
        model_tokens_per_day: Some(5_000_000_000),
        model_cost_per_day: Some(0),
        max_monitors: Some(0),
        partner_grant: Some(teams::WITHDRAWN.to_owned()),
        alert_emails: Some(List(vec!["ops@example.com".to_owned()])),
        ..Team::new("t1", "Größe „1“", at(0))
    };
    teams::create(&mut conn, &team).await.unwrap();
    assert_eq!(teams::find(&mut conn, "t1").await.unwrap(), Some(team.clone()));
    assert_eq!(teams::find(&mut conn, "t2").await.unwrap(), None);
    assert!(teams::create(&mut conn, &team).await.unwrap_err().is_duplicate());
}

async fn a_change_leaves_the_rest(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let team = Team::new("t1", "one", at(0));
    teams::create(&mut conn, &team).await.unwrap();
    let change = TeamChange { concurrency: Some(9), catalog: Some(true), ..TeamChange::default() };
    let changed = Team { concurrency: 9, catalog: true, ..team };
    assert_eq!(teams::update(&mut conn, "t1", &change).await.unwrap(), Some(changed.clone()));
    assert_eq!(teams::update(&mut conn, "t1", &TeamChange::default()).await.unwrap(), Some(changed));
    assert_eq!(teams::update(&mut conn, "t2", &change).await.unwrap(), None);
    let networks = Some(List(vec!["192.0.2.7/32".to_owned()]));
    let change_of = |addresses| TeamChange { addresses: Some(addresses), ..TeamChange::default() };
    let limited = teams::update(&mut conn, "t1", &change_of(networks.clone())).await.unwrap().unwrap();
    assert_eq!(limited.addresses, networks);
    let free = teams::update(&mut conn, "t1", &change_of(None)).await.unwrap().unwrap();
    assert_eq!(free.addresses, None);
    let limit = |tokens| TeamChange { model_tokens_per_day: Some(tokens), ..TeamChange::default() };
    let limited = teams::update(&mut conn, "t1", &limit(Some(100))).await.unwrap().unwrap();
    assert_eq!((limited.model_tokens_per_day, limited.model_cost_per_day), (Some(100), None));
    let free = teams::update(&mut conn, "t1", &limit(None)).await.unwrap().unwrap();
    assert_eq!(free.model_tokens_per_day, None);
    assert!(teams::update(&mut conn, "t1", &limit(Some(-1))).await.is_err());
    let refused = TeamChange { concurrency: Some(0), ..TeamChange::default() };
    assert!(teams::update(&mut conn, "t1", &refused).await.is_err());
}

async fn lists_are_paged_by_id(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let mut ids: Vec<String> = ["b-1", "B-2", "a", "_x", "a-b", "ab", "0"].map(str::to_owned).to_vec();
    for id in &ids {
        teams::create(&mut conn, &Team::new(id, "", at(0))).await.unwrap();
    }
    ids.sort();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = teams::list(&mut conn, after.as_deref(), 3).await.unwrap();
        after = page.last().map(|team| team.id.clone());
        seen.extend(page.into_iter().map(|team| team.id));
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ids);
}

async fn one_of_many_creates_it(store: Store) {
    let creates = (0..16).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut conn = store.conn().await.unwrap();
            teams::create_if_absent(&mut conn, &Team::new("default", "", at(0))).await.unwrap()
        })
    });
    let created = futures_util::future::join_all(creates).await;
    assert_eq!(created.into_iter().filter(|result| *result.as_ref().unwrap()).count(), 1);
}
