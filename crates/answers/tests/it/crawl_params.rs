//! Crawl options from prompts.

use answers::crawl_params::{Derived, ParamsError, Question, derive};
use llm::AskError;
use serde_json::{Value, json};
use testkit::ModelFault;
use url::Url;
use wire::{CrawlParams, SitemapMode};

use crate::world::World;

fn urls(paths: &[&str]) -> Vec<Url> {
    paths.iter().map(|path| Url::parse("https://example.com/").unwrap().join(path).unwrap()).collect()
}

async fn derived(world: &World, start: &str, urls: &[Url]) -> Result<Derived, ParamsError> {
    let start = Url::parse(start).unwrap();
    let question = Question {
        prompt: "the articles of the blog",
        start: &start,
        urls,
        owner: &world.owner,
        budget: &world.budget,
        deadline: world.deadline(),
    };
    Ok(derive(&world.model, &question).await?.checked(&start, urls))
}

async fn answered(answer: Value, start: &str, urls: &[Url]) -> Derived {
    let world = World::answering(move |_| answer.to_string()).await;
    derived(&world, start, urls).await.unwrap()
}

#[tokio::test]
async fn a_model_sees_prompt_and_paths_and_fills_options() {
    let answer = json!({
        "includePaths": ["^/blog(/|$)"], "limit": 20, "sitemap": "only", "delay": 0.4, "allowSubdomains": null,
        "scrapeOptions": { "formats": ["markdown", "html"], "onlyMainContent": true },
    });
    let world = World::answering(move |_| answer.to_string()).await;
    let mut site = urls(&["/", "/blog/a", "/blog/a?x=1", "https://shop.example.com/c"]);
    site.extend((0..300).map(|n| Url::parse(&format!("https://example.com/p/{n}")).unwrap()));
    let found = derived(&world, "https://example.com/", &site).await.unwrap();
    let options = &found.options;
    assert_eq!(options.include_paths.as_deref().unwrap(), ["^/blog(/|$)", "^/$"]);
    assert_eq!((options.limit, options.sitemap, options.delay), (Some(20), Some(SitemapMode::Only), Some(1)));
    assert_eq!(options.allow_subdomains, None);
    assert_eq!(found.warnings, ["The start URL is crawled too, since its links lead to the pages."]);
    let asked = &world.server.asked()[0];
    assert!(asked.user.contains("Task:\nthe articles of the blog") && asked.user.contains("\n/blog/a\n"));
    assert!(asked.user.contains("//shop.example.com/c") && !asked.system.contains("/blog/a\n"));
    assert_eq!(asked.user.lines().filter(|line| line.starts_with('/')).count(), 100);
}

#[tokio::test]
async fn patterns_that_cannot_be_used_are_left_out() {
    let answer = json!({
        "includePaths": ["(?=x)", "[", "^/ok"], "excludePaths": ["^/$", "/old/", "((a{1,1000}){1,1000}){1,1000}"],
    });
    let found = answered(answer, "https://example.com/", &[]).await;
    assert_eq!(found.options.include_paths.unwrap(), ["^/ok", "^/$"]);
    assert_eq!(found.options.exclude_paths.unwrap(), ["/old/"]);
    assert_eq!(found.warnings.len(), 5, "{:?}", found.warnings);
    let found = answered(json!({ "includePaths": ["("] }), "https://example.com/", &[]).await;
    assert_eq!(found.options.include_paths, None);
    let many: Vec<String> = (0..200).map(|n| format!("/a{n}/")).chain([String::new(), "\u{0}".into()]).collect();
    let found = answered(json!({ "includePaths": many }), "https://example.com/", &[]).await;
    assert_eq!(found.options.include_paths.unwrap().len(), 51);
}

#[tokio::test]
async fn nothing_beyond_the_bounds_or_the_form_comes_in() {
    let answer = json!({
        "limit": 99_999_999, "maxDiscoveryDepth": 5_000_000, "delay": 1e9, "ignoreRobotsTxt": true, "robotsUserAgent": "x",
        "webhook": "https://evil.test/", "maxConcurrency": 9999, "url": "https://evil.test/", "zeroDataRetention": true,
        "scrapeOptions": {
            "headers": { "Cookie": "x" }, "actions": [{ "type": "click", "selector": "a" }], "formats": ["json", "markdown"],
            "skipTlsVerification": true, "timeout": 1,
        },
    });
    let found = answered(answer, "https://example.com/", &[]).await;
    let url = Url::parse("https://example.com/").unwrap();
    let mut shown = serde_json::to_value(CrawlParams::new(url.clone(), found.options)).unwrap();
    let default = serde_json::to_value(CrawlParams::new(url, wire::DerivedOptions::default())).unwrap();
    shown.as_object_mut().unwrap().retain(|key, value| default.get(key) != Some(value));
    let expect = json!({
        "limit": 10_000, "maxDiscoveryDepth": 1000, "delay": 60, "scrapeOptions": { "formats": ["markdown"] },
    });
    assert_eq!(shown, expect);
}

#[tokio::test]
async fn wanted_pages_outside_the_folder_of_the_start_are_reached() {
    let site = urls(&["/docs/a", "/blog/a"]);
    let answer = json!({ "includePaths": ["^/blog/"] });
    let found = answered(answer.clone(), "https://example.com/docs/", &site).await;
    assert_eq!(found.options.crawl_entire_domain, Some(true));
    assert_eq!(found.options.include_paths.unwrap(), ["^/blog/", "^/docs/$"]);
    assert_eq!(answered(answer, "https://example.com/blog/", &site).await.options.crawl_entire_domain, None);
    let full = json!({ "includePaths": ["example.com/blog/"], "regexOnFullURL": true });
    let found = answered(full, "https://example.com/docs/", &site).await;
    assert_eq!(found.options.include_paths.unwrap()[1], r"^https://example\.com/docs/$");
}

#[tokio::test]
async fn a_wrong_form_is_asked_for_once_more_and_a_failure_is_told() {
    let corrects = |asked: &testkit::Asked| match asked.user.contains("errors of that answer") {
        true => json!({ "limit": 5 }).to_string(),
        false => json!({ "limit": "many" }).to_string(),
    };
    let world = World::answering(corrects).await;
    assert_eq!(derived(&world, "https://example.com/", &[]).await.unwrap().options.limit, Some(5));
    let world = World::answering(|_| "no idea".to_owned()).await;
    assert!(matches!(derived(&world, "https://example.com/", &[]).await, Err(ParamsError::Invalid(_))));
    world.server.fail_with(vec![ModelFault::Status(500)]);
    let error = derived(&world, "https://example.com/", &[]).await.unwrap_err();
    assert_eq!(error, ParamsError::Ask(AskError::Upstream { status: 500 }));
}
