//! Data from a page of 2 MB, which a model reads in parts.

use std::collections::HashSet;
use std::fmt::Write as _;

use e2e::{Answer, TestApp};
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{Asked, ModelFault, ModelServer};

const ROWS: u32 = 3000;
const BYTES: usize = 2_000_000;

/// Returns a page with one table, whose rows have a long remark.
fn page() -> String {
    let remark = "Read by hand at noon, with the shutters closed and the lamp of the second stair lit. ".repeat(8);
    let mut html = "<!doctype html><html lang=en><title>Readings</title><main><h1>Readings</h1>\
        <table><tr><th>Id</th><th>Value</th><th>Remark</th></tr>"
        .to_owned();
    for row in 0..ROWS {
        let _ = write!(html, "<tr><td>R-{row:05}</td><td>{}.25</td><td>{remark}</td></tr>", row % 977);
    }
    html + "</table></main></html>"
}

fn items() -> Vec<Value> {
    (0..ROWS).map(|row| json!({ "id": format!("R-{row:05}"), "value": f64::from(row % 977) + 0.25 })).collect()
}

/// An honest model: the rows that it is shown, and no others.
fn rows_shown(asked: &Asked) -> String {
    let rows: Vec<Value> = asked.user.lines().filter_map(row).collect();
    json!({ "readings": rows }).to_string()
}

fn row(line: &str) -> Option<Value> {
    let mut cells = line.strip_prefix("| R-")?.split(" | ");
    let (number, value) = (cells.next()?, cells.next()?.parse::<f64>().ok()?);
    Some(json!({ "id": format!("R-{number}"), "value": value }))
}

/// Makes every third part of a page fail once, each time in another way.
fn every_third_part_fails(model: &ModelServer) {
    let seen = Mutex::new(HashSet::new());
    model.fail_by(move |asked| {
        let Some(first) = asked.user.lines().find_map(row) else { return ModelFault::None };
        let mut seen = seen.lock();
        if !seen.insert(first["id"].to_string()) || seen.len() % 3 != 0 {
            return ModelFault::None;
        }
        match seen.len() / 3 % 6 {
            0 => ModelFault::Status(503),
            1 => ModelFault::Text("I am sorry, the page is hard to read.".to_owned()),
            2 => ModelFault::Reset,
            3 => ModelFault::Empty,
            4 => ModelFault::Half,
            _ => ModelFault::Text("{\"readings\": \"see page\"}".to_owned()),
        }
    });
}

async fn scrape(app: &TestApp) -> Answer {
    let item = json!({
        "type": "object",
        "properties": { "id": { "type": "string" }, "value": { "type": "number" } },
        "required": ["id", "value"],
    });
    let schema = json!({ "type": "object", "properties": { "readings": { "type": "array", "items": item } } });
    let formats = json!([{ "type": "json", "schema": schema }]);
    let body = json!({ "url": app.page("/readings"), "formats": formats, "timeout": 120_000 });
    app.team(Some(100), json!({})).await.scrape(&body).await
}

fn is_whole(answer: &Answer) {
    let data = &answer.body["data"];
    assert_eq!((answer.status, &data["warning"]), (200, &Value::Null), "{:.400}", answer.body);
    let readings = data["json"]["readings"].as_array().unwrap();
    let expected = items();
    let first = readings.iter().zip(&expected).find(|(found, expected)| found != expected);
    assert_eq!((readings.len(), first), (expected.len(), None));
    assert_eq!(data["metadata"]["creditsUsed"], 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_3000_rows_is_3000_items_in_order() {
    let html = page();
    assert!(html.len() > BYTES, "{}", html.len());
    let model = ModelServer::start(rows_shown).await;
    let app = TestApp::with_model(&model, |_| ()).await;
    app.site.html("/readings", html);
    is_whole(&scrape(&app).await);
    let calls = model.asked().len();
    assert!((100..600).contains(&calls), "{calls}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_that_fail_once_are_asked_again() {
    let model = ModelServer::start(rows_shown).await;
    every_third_part_fails(&model);
    let app = TestApp::with_model(&model, |config| config.llm.attempts = 3).await;
    app.site.html("/readings", page());
    is_whole(&scrape(&app).await);
    let (mut seen, mut again) = (HashSet::new(), 0);
    for asked in model.asked() {
        again += usize::from(!seen.insert(asked.user.lines().find_map(row).unwrap().to_string()));
    }
    assert!(again >= seen.len() / 3, "{again} of {}", seen.len());
}
