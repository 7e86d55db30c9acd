//! A family of events of its own, from the webhook of a request to the receiver.

use std::sync::Arc;
use std::time::Duration;

use ::webhooks::Event;
use app::webhooks::{Deliver, Hook, Source, emit_all};
use base::Clock;
use net::{Allow, Client, Config, Egress, Limits};
use queue::{Settings, Worker};
use serde::Serialize;
use serde_json::{Value, json};
use store::{Conn, StoreError};
use testkit::Reply;
use tokio_util::sync::CancellationToken;
use wire::event::{EventFamily, EventWord, Phase, Spelling};

use crate::world::World;

/// Events of surveys.
static SURVEY: EventFamily =
    EventFamily { name: "survey", spelling: Spelling::FullName, events: &[SITE, SURVEY_ENDED] };

/// A site was looked at.
const SITE: EventWord = EventWord { word: "site", phase: Phase::Progress };
/// The survey has ended.
const SURVEY_ENDED: EventWord = EventWord { word: "ended.whole", phase: Phase::End };

/// Data of [`SURVEY_ENDED`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Surveyed {
    sites: u32,
    unreachable: u32,
}

/// Returns the event of a survey that has ended. One that did not reach every site is no success, but has a result.
fn ended(surveyed: &Surveyed) -> serde_json::Result<Option<Event<'static>>> {
    let Some(event) = SURVEY.event(SURVEY_ENDED).map(Event::new) else { return Ok(None) };
    let event = event.with(surveyed)?;
    Ok(Some(if surveyed.unreachable == 0 { event } else { event.failed().because("some sites were not reached") }))
}

#[tokio::test(flavor = "multi_thread")]
async fn another_family_is_a_row() {
    let world = World::start().await;
    let caller = world.team(None).await;
    world.site.respond("/hook", Reply::default());
    let url = world.site.url("/hook");
    let all = wire::decode_webhook(&SURVEY, json!(url)).unwrap();
    assert_eq!(serde_json::to_value(&all).unwrap()["events"], json!(["survey.site", "survey.ended.whole"]));
    let refused = wire::decode_webhook(&SURVEY, json!({ "url": url, "events": ["ended.whole", "page"] })).unwrap_err();
    assert_eq!(refused.message, "`webhook.events[1]` must be `survey.site` or `survey.ended.whole`");

    let egress = Egress { allow: vec![Allow::Address(world.site.addr())], ..Egress::default() };
    let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
    let (store, clock) = (world.parts.store.clone(), Arc::new(world.clock.clone()) as Arc<dyn Clock>);
    let worker = Worker::new(
        store.clone(),
        Arc::clone(&clock),
        Settings { poll: Duration::from_millis(5), ..Settings::default() },
    );
    let stop = CancellationToken::new();
    let working = tokio::spawn(worker.with(Deliver::new(store.clone(), clock, client)).run(stop.clone()));
    let hook = Hook::check(Some(&all), false).unwrap().unwrap();
    let site = SURVEY.event(SITE).map(Event::new).unwrap().with("a.test").unwrap();
    // The end is emitted first and delivered last.
    let events = [ended(&Surveyed { sites: 3, unreachable: 1 }).unwrap().unwrap(), site];
    let (source, now) = (Source { team: &caller.team.id, job: "survey-1" }, world.clock.now());
    let emit = async |conn: &mut Conn| -> Result<(), StoreError> { emit_all(conn, &hook, source, &events, now).await };
    store.conn().await.unwrap().tx(emit).await.unwrap();
    while world.site.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.cancel();
    working.await.unwrap();
    let mut bodies: Vec<Value> =
        world.site.requests().iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    for body in &mut bodies {
        assert!(body.as_object_mut().unwrap().remove("webhookId").is_some());
    }
    assert_eq!(
        bodies,
        [
            json!({ "success": true, "type": "survey.site", "id": "survey-1", "data": ["a.test"], "metadata": {} }),
            json!({
                "success": false, "type": "survey.ended.whole", "id": "survey-1", "data": [{ "sites": 3, "unreachable": 1 }],
                "error": "some sites were not reached", "metadata": {},
            }),
        ]
    );
}
