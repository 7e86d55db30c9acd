//! Ways in which an endpoint misbehaves, and what a question gets, asks and costs each time.
//!
//! `cargo test -p llm --test it misbehav -- --nocapture` prints the table.

use std::time::Duration;

use llm::{Answer, AskError, Content, Kind};
use serde_json::{Value, json};
use testkit::{ModelFault, ModelLacks};
use tokio::time::Instant;

use crate::world::{World, mug};

/// Time within which each question has to end.
const DEADLINE: Duration = Duration::from_secs(3);
/// Wait that no deadline admits.
const NEVER: Duration = Duration::from_secs(60);

/// A way in which an endpoint misbehaves.
struct Way {
    name: &'static str,
    faults: Vec<ModelFault>,
    lacks: Vec<ModelLacks>,
    expect: Expect,
}

/// What a question gets, and the requests that it takes.
struct Expect {
    outcome: &'static str,
    requests: usize,
    /// Whether tokens are charged to the budget.
    is_charged: bool,
}

const MUG: &str = "the value";

/// A fault of the first answers, after which a question gets its value.
fn mended(name: &'static str, faults: Vec<ModelFault>) -> Way {
    let requests = faults.len() + 1;
    Way { name, faults, lacks: Vec::new(), expect: Expect { outcome: MUG, requests, is_charged: true } }
}

/// An odd answer that still has the value.
fn read(name: &'static str, fault: ModelFault) -> Way {
    Way { name, faults: vec![fault], lacks: Vec::new(), expect: Expect { outcome: MUG, requests: 1, is_charged: true } }
}

/// A feature that is refused, and the requests until one without it is accepted.
fn lacking(name: &'static str, lacks: &[ModelLacks], requests: usize) -> Way {
    Way { name, faults: Vec::new(), lacks: lacks.to_vec(), expect: Expect { outcome: MUG, requests, is_charged: true } }
}

/// A fault that ends the question.
fn fatal(name: &'static str, faults: Vec<ModelFault>, expect: Expect) -> Way {
    Way { name, faults, lacks: Vec::new(), expect }
}

fn free(outcome: &'static str, requests: usize) -> Expect {
    Expect { outcome, requests, is_charged: false }
}

fn charged(outcome: &'static str) -> Expect {
    Expect { outcome, requests: 1, is_charged: true }
}

fn text(text: String) -> ModelFault {
    ModelFault::Text(text)
}

fn message(message: &Value, reason: &str) -> ModelFault {
    ModelFault::Body(json!({ "choices": [{ "message": message, "finish_reason": reason }] }).to_string())
}

fn passing() -> Vec<Way> {
    use ModelFault::{Body, ErrorBody, Half, Reset, RetryAfter, Slow, Status};
    vec![
        mended("status 429", vec![Status(429)]),
        mended("status 429 with Retry-After: 1", vec![RetryAfter(1)]),
        mended("status 500", vec![Status(500)]),
        mended("status 502, twice", vec![Status(502); 2]),
        mended("status 503", vec![Status(503)]),
        mended("status 529", vec![Status(529)]),
        mended("status 200, error body 502", vec![ErrorBody(json!(502))]),
        mended("status 200, error body server_error", vec![ErrorBody(json!("server_error"))]),
        mended("status 200, error body 429", vec![ErrorBody(json!(429))]),
        mended("connection closed without an answer", vec![Reset]),
        mended("connection closed in the middle", vec![Half]),
        mended("HTML of a gateway", vec![Body("<html>bad gateway</html>".to_owned())]),
        mended("an object without choices", vec![Body("{}".to_owned())]),
        mended("a list instead of an object", vec![Body("[]".to_owned())]),
        mended("an empty body", vec![Body(String::new())]),
        read("the answer after a second", Slow(Duration::from_secs(1))),
    ]
}

fn odd() -> Vec<Way> {
    let answer = mug().to_string();
    vec![
        read("fenced JSON", text(format!("```json\n{answer}\n```"))),
        read("prose around the JSON", text(format!("Here is what I found:\n{answer}\nLet me know."))),
        read("reasoning before the JSON", text(format!("<think>A mug, {{\"not\": \"this\"}}.</think>{answer}"))),
        read("the end of a reasoning", text(format!("A mug.</think>\n{answer}"))),
        read("a trailing comma", text(answer.replace('}', ",}"))),
        read("a number as a string", text(answer.replace("12.5", "\"12.50\""))),
        read("a key that was not asked for", text(answer.replace('}', ",\"note\":\"extracted\"}"))),
        read("content in parts", ModelFault::Parts),
        read("reasoning in a field of its own", ModelFault::Reasoning("The page shows {\"a\": 1}.".to_owned())),
        read("no count of tokens", ModelFault::NoUsage),
        lacking("no JSON by a schema", &[ModelLacks::JsonSchema], 2),
        lacking("no tools either", &[ModelLacks::JsonSchema, ModelLacks::Tools], 3),
        lacking("no JSON mode at all", &[ModelLacks::JsonSchema, ModelLacks::Tools, ModelLacks::JsonObject], 4),
        lacking("no max_tokens", &[ModelLacks::MaxTokens], 2),
        lacking("no temperature", &[ModelLacks::Temperature], 2),
    ]
}

fn ending() -> Vec<Way> {
    use ModelFault::{Cut, Empty, ErrorBody, Hang, Redirect, Refusal, RetryAfter, Status};
    let refuses = "the model refuses to answer";
    let nothing = "the model has answered nothing";
    let late = "the model did not answer in time";
    let key = "the endpoint of the model does not accept the key (status 401): check llm.key";
    vec![
        fatal(
            "status 500 for ever",
            vec![Status(500); 9],
            free("the endpoint of the model has failed (status 500)", 3),
        ),
        fatal("Retry-After: 600", vec![RetryAfter(600)], free("the model is called too often", 1)),
        fatal("status 401", vec![Status(401)], free(key, 1)),
        fatal("status 200, error body 401", vec![ErrorBody(json!(401))], free(key, 1)),
        fatal(
            "status 404",
            vec![Status(404)],
            free(
                "the endpoint of the model refuses the request (status 404, invalid_request_error): check llm.url and llm.model",
                1,
            ),
        ),
        fatal(
            "a redirect",
            vec![Redirect("http://127.0.0.1:9/v1".parse().unwrap())],
            free("the endpoint of the model redirects to another address: check llm.url", 1),
        ),
        fatal("no answer", vec![Hang(NEVER)], charged(late)),
        fatal("the answer after a minute", vec![ModelFault::Slow(NEVER)], charged(late)),
        fatal("a refusal", vec![Refusal], charged(refuses)),
        fatal("a content filter", vec![message(&json!({}), "content_filter")], charged(refuses)),
        fatal("an answer of no text", vec![Empty], charged(nothing)),
        fatal("content null", vec![message(&json!({ "content": null }), "stop")], charged(nothing)),
        fatal("cut after 18 bytes", vec![Cut(18)], charged("cut")),
        fatal("cut in the reasoning", vec![Cut(0)], charged("cut")),
    ]
}

fn outcome(world: &World, result: Result<Answer, AskError>) -> String {
    match result {
        Ok(Answer { cut: true, .. }) => "cut".to_owned(),
        Ok(Answer { content: Content::Json(value), .. }) => {
            let accepted = world.schema.accept(value).map(|accepted| accepted.value == mug());
            if accepted == Ok(true) { MUG.to_owned() } else { format!("{accepted:?}") }
        }
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn misbehaving_endpoints_cost_little_and_say_what_to_do() {
    let ways: Vec<Way> = [passing(), odd(), ending()].into_iter().flatten().collect();
    assert!(ways.len() >= 40);
    let (mut table, mut wrong) = (String::new(), Vec::new());
    for way in ways {
        let world = World::of(Kind::OpenAi, |_| {}).await;
        world.server.fail_with(way.faults);
        world.server.refuse(&way.lacks);
        let started = Instant::now();
        let result = world.ask_within(DEADLINE).await;
        let (time, requests, tokens) = (started.elapsed(), world.server.asked().len(), world.budget.spent().tokens);
        let outcome = outcome(&world, result);
        let row = format!("{:40} {requests} requests {tokens:4} tokens {time:7.2?}  {outcome}\n", way.name);
        table.push_str(&row);
        let expect = &way.expect;
        let is_right = outcome == expect.outcome && requests == expect.requests && (tokens > 0) == expect.is_charged;
        if !is_right || time > DEADLINE + Duration::from_millis(500) {
            wrong.push(row);
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{}", wrong.concat());
}
