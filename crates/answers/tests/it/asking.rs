//! Questions to a model: long pages, models that do not do as they are told, and what is kept of their answers.

use std::sync::Arc;
use std::time::Duration;

use answers::{Answers, Asking, CacheUse, Context, PageText, Refusal};
use base::{Owner, SystemClock};
use cpu::Cpu;
use llm::{Settings, TeamLimit};
use serde_json::json;
use testkit::{Asked, ModelFault, ModelServer};
use tokio::time::Instant;

struct World {
    model: ModelServer,
    answers: Answers,
    cpu: Cpu,
    owner: Owner,
}

impl World {
    async fn start(rule: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        let model = ModelServer::start(rule).await;
        let settings = Settings {
            url: Some(model.url("/v1")),
            model: "small".to_owned(),
            attempts: 1,
            context_tokens: 3000,
            output_tokens: 300,
            ..Settings::default()
        };
        let answers = Answers::new(&settings, Arc::new(SystemClock)).unwrap();
        Self { model, answers, cpu: Cpu::new(2), owner: Owner::of_team("team") }
    }

    fn asking(&self) -> Asking<'_> {
        let deadline = Instant::now() + Duration::from_secs(20);
        let (owner, cpu) = (&self.owner, &self.cpu);
        let (cache, limit) = (CacheUse::default(), TeamLimit::default());
        self.answers.asking(Context { owner, private: false, deadline, cache, cpu, limit }).unwrap()
    }
}

fn page(markdown: &str) -> Arc<PageText> {
    let links = vec!["https://a.test/known".to_owned()];
    Arc::new(PageText { markdown: markdown.to_owned(), title: "Ferries".to_owned(), links, ..PageText::default() })
}

/// A page of about 12 000 tokens, with two sentences that matter, far from each other.
fn long() -> Arc<PageText> {
    let line = |n: usize| match n {
        90 => "The night ferry leaves at ten.".to_owned(),
        510 => "The day ferry leaves at noon.".to_owned(),
        _ => format!("Paragraph {n} tells of the harbour, its gulls, its ropes and its old lamps in some detail."),
    };
    page(&(0..600).map(line).collect::<Vec<_>>().join("\n\n"))
}

/// Picks the sentences with a ferry that leaves, and answers and summarises with what it can see.
fn ferries(asked: &Asked) -> String {
    let lines = asked.user.lines().filter(|line| line.contains("ferry leaves"));
    if asked.system.contains("choose the sentences") {
        let numbers = lines.filter_map(|line| line.split(':').next()?.parse::<usize>().ok());
        return json!({ "sentences": numbers.collect::<Vec<_>>() }).to_string();
    }
    let seen = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    if asked.system.contains("summarise") {
        format!("A harbour. {seen}")
    } else {
        json!({ "answer": seen }).to_string()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_page_is_asked_about_in_parts() {
    let world = World::start(ferries).await;
    let (page, asking) = (long(), world.asking());
    let both = "The night ferry leaves at ten.\n\n…\n\nThe day ferry leaves at noon.";
    let highlights = asking.highlights(&page, "When do ferries leave?").await.unwrap();
    assert_eq!((highlights.value.as_str(), highlights.warnings.len()), (both, 0));
    let asked = world.model.take_asked();
    assert!(asked.len() > 3 && asked.iter().all(|asked| asked.user.len() < 12_000), "{}", asked.len());
    let quote = asking.quote(&page, "When do ferries leave?").await.unwrap();
    assert_eq!(quote.value, "The night ferry leaves at ten.\nThe day ferry leaves at noon.");
    let answer = asking.question(&page, "When do ferries leave?").await.unwrap();
    assert_eq!(answer.value, "The night ferry leaves at ten. The day ferry leaves at noon.");
    let summary = asking.summary(&page).await.unwrap();
    assert!(summary.value.contains("ten") && summary.value.contains("noon"), "{}", summary.value);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_that_fails_is_told() {
    let world = World::start(ferries).await;
    world.model.fail_with(vec![ModelFault::Status(500)]);
    let found = world.asking().highlights(&long(), "When do ferries leave?").await.unwrap();
    assert!(found.warnings[0].starts_with("1 of "), "{found:?}");
    world.model.fail_with(vec![ModelFault::Status(500); 100]);
    assert!(matches!(world.asking().summary(&long()).await, Err(Refusal::Model(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentences_with_every_word_of_a_query_are_shown_where_the_model_picks_none() {
    let world = World::start(|_| json!({ "sentences": [] }).to_string()).await;
    let page = page("One harbour, two piers. Boats leave.");
    let found = world.asking().highlights(&page, "harbour piers").await.unwrap();
    assert_eq!(found.value, "One harbour, two piers.");
    assert_eq!(found.warnings, ["`highlights`: the model picked no passage; these have every word of the query"]);
    let none = world.asking().highlights(&page, "When do boats leave the harbour?").await.unwrap();
    assert_eq!(none.value, "");
    assert!(none.warnings[0].contains("nothing that answers it"), "{none:?}");
    assert_eq!(world.asking().quote(&page, "harbour piers").await.unwrap().value, "", "a quote is an answer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_that_the_page_does_not_have_are_left_out() {
    let world = World::start(|_| json!({ "sentences": [0, 99, 2, 2, 1] }).to_string()).await;
    let page = page("One harbour. Two piers. Three boats.");
    let found = world.asking().highlights(&page, "?").await.unwrap();
    assert_eq!(found.value, "One harbour. Two piers.");
    for (said, expect) in [("2, 3", Some("Two piers. Three boats.")), ("I cannot choose 2 of them.", None)] {
        let world = World::start(move |_| said.to_owned()).await;
        let found = world.asking().highlights(&page, "?").await.ok().map(|found| found.value);
        assert_eq!(found.as_deref(), expect, "{said}");
    }
    let none = World::start(|_| json!({ "sentences": [] }).to_string()).await;
    let found = none.asking().quote(&page, "?").await.unwrap();
    assert_eq!((found.value.as_str(), found.warnings.len()), ("", 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_hold_no_foreign_url_and_nothing_invisible() {
    let said = "See https://evil.test/?q=1 and https://a.test/known\u{200b}\u{202e} now.";
    for text in [said.to_owned(), json!({ "answer": said }).to_string()] {
        let world = World::start(move |_| text.clone()).await;
        let page = page("The harbour is old, and its boats are older.");
        let answer = world.asking().question(&page, "Where?").await.unwrap();
        assert_eq!(answer.value, "See  and https://a.test/known now.");
        assert_eq!(answer.warnings, ["`answer`: removed 1 URLs that are no links of the page"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_without_text_is_not_summarised() {
    let world = World::start(|_| "A fine page.".to_owned()).await;
    let found = world.asking().summary(&page(" \n")).await.unwrap();
    assert_eq!((found.value.as_str(), found.warnings.len(), world.model.asked().len()), ("", 1, 0));
    let empty = world.asking().highlights(&page(""), "?").await.unwrap();
    assert_eq!((empty.value.as_str(), empty.warnings.len()), ("", 1));
}
