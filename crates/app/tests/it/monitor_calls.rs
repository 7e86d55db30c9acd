//! Checks that are begun by a call.

use std::time::Duration;

use app::monitors as monitor;
use base::Clock as _;
use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_begins_when_its_turn_comes() {
    let world = World::start().await;
    world.leaves_jobs();
    let (monitors, caller) = (world.operations.monitors.clone(), world.team(None).await);
    let body = json!({
        "name": "m", "schedule": { "cron": "0 9 1 1 *" },
        "targets": [{ "type": "scrape", "urls": [world.site.url("/a")] }],
    });
    let request = wire::decode_create_monitor(body).unwrap();
    let id = monitor::create(&monitors, &caller, request).await.unwrap().id;
    let asked = world.clock.now();
    let mut conn = world.parts.store.conn().await.unwrap();
    let waiting: Result<_, store::StoreError> = conn
        .tx(async |_: &mut store::Conn| {
            let waiting = tokio::spawn(async move { monitor::run(&monitors, &caller, id).await });
            tokio::time::sleep(Duration::from_millis(200)).await;
            world.clock.advance(Duration::from_secs(60));
            Ok(waiting)
        })
        .await;
    let check = waiting.unwrap().await.unwrap().unwrap();
    assert_eq!(check.created_at - asked, chrono::TimeDelta::seconds(60), "{check:?}");
}
