//! End-to-end tests of the API: one module per resource.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod admin;
mod answers;
mod append;
mod auth;
mod batch;
mod browser;
mod browser_runs;
mod budget;
mod cache;
mod changes;
mod clean;
mod client;
mod code;
mod crawl;
mod crawl_bounds;
mod crawl_copies;
mod crawl_prompt;
mod credentials;
mod credits;
mod deployment;
mod docs;
mod documents;
mod examples;
mod feedback;
mod files;
mod filter_lists;
mod found;
mod health;
mod index_command;
mod interact;
mod jobs;
mod keeping;
mod kept;
mod keyless;
mod limits;
mod long_tables;
mod map;
mod markdown_answers;
mod messages;
mod model_protocols;
mod model_retention;
mod models;
mod monitor_chat;
mod monitor_mail;
mod monitors;
mod options;
mod origins;
mod outage;
mod own_pages;
mod parse;
mod postgres;
mod privacy;
mod process;
mod products;
mod profiles;
mod proxies;
mod questions;
mod reasons;
mod revoked;
mod rules;
mod samples;
mod scrape;
mod search;
mod servers;
mod sessions;
mod team;
mod upgrade;
mod watch;
mod webhooks;
mod wire;
mod worker;

/// A typical page: navigation, an article, a footer.
pub(crate) const ARTICLE: &str = r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Granite</title>
<meta name="description" content="On granite."><meta property="og:title" content="OG Granite"><script>var hidden = 1;</script></head>
<body><header><nav>NAVIGATION <a href="/home">Home</a></nav></header>
<main><article><h1>Granite</h1><p>Granite is a <b>hard</b> stone, coarse in grain, and it is found in <a href="/places">many places</a> of the world.</p>
<p class="aside">It was used for <em>bridges</em>, kerbs and the steps of town halls, because it wears slowly.</p>
<img src="/granite.png" alt="a block"><ul><li>feldspar</li><li>quartz</li><li>mica</li></ul></article></main>
<footer>FOOTER</footer></body></html>"#;
