//! Known items: pages of installed documentation, each asked for by a sentence of its text. Beside ours the same texts are
//! ranked by the library of the index with its defaults, by SQLite's full-text search and by the ranking of map.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use base::Stop;
use crawl_frontier::{Candidate, rank};
use formats::{ContentOptions, Page, PlainText};
use lab::Installation;
use serde_json::{Value, json};
use url::Url;
use xtask::{say, sh};

use super::corpus;

/// Pages that are asked for.
const ASKED: usize = 300;
/// Pages that are indexed.
const MAX_PAGES: usize = 5_000;
/// Results that count.
const RESULTS: usize = 10;
/// Words of a sentence.
const WORDS: std::ops::RangeInclusive<usize> = 6..=14;
/// Host of the pages.
const HOST: &str = "docs.example";
/// Most bytes of a page's text.
const MAX_TEXT: usize = 256 << 10;
/// SQLite's full-text search with its defaults.
const SQLITE: &str = include_str!("fts5.py");

/// Page of documentation, as all programs get it.
struct Item {
    url: String,
    html: String,
    title: String,
    description: String,
    text: String,
}

/// Sentence, and the page that has it.
struct Question {
    sentence: String,
    item: usize,
}

/// Prints the mean reciprocal rank of the page that is meant, among the first ten.
pub(super) async fn run(installation: &Installation, plain: Option<&Path>) -> Result<()> {
    let items: Vec<Item> = corpus::pages().iter().filter_map(|path| item(path)).take(MAX_PAGES).collect();
    let questions = questions(&items);
    ensure!(questions.len() >= 30, "too little documentation is installed: run `cargo xtask setup docs`");
    say!("{} of {} pages of documentation, each asked for by a sentence of its text:", questions.len(), items.len());
    let folder = installation.temporary();
    let file = folder.join("pages.jsonl");
    write(&file, items.iter().map(|Item { url, title, description, text, .. }| {
        json!({ "url": url, "title": title, "description": description, "text": text })
    }))?;
    print("map's ranking", &questions, &items, &by_map(&items, &questions));
    let mut python = Command::new("python3");
    python.args(["-c", SQLITE]).arg(&file);
    print("SQLite FTS5", &questions, &items, &by_program(&mut python, &questions)?);
    let mut library = plain.map_or_else(example, |program| Ok(Command::new(program)))?;
    library.arg(folder.join("plain")).arg(&file).arg("plain");
    print("tantivy", &questions, &items, &by_program(&mut library, &questions)?);
    print("the index", &questions, &items, &by_server(installation, &items, &questions).await?);
    Ok(())
}

/// Reads a page; `None` for one without text.
fn item(path: &Path) -> Option<Item> {
    let html = fs::read_to_string(path).ok()?;
    let url = format!("https://{HOST}{}", path.display());
    let page = Page::parse(&html, &Url::parse(&url).ok()?);
    let PlainText { text, .. } = formats::plain_text(&formats::content(&page, &ContentOptions::default()), MAX_TEXT);
    let metadata = formats::metadata(&page);
    let word = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (title, description) = (word("title"), word("description"));
    (!text.is_empty()).then_some(Item { url, html, title, description, text })
}

/// Returns a question for pages that are spread evenly over all that have a sentence of their own.
fn questions(items: &[Item]) -> Vec<Question> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for item in items {
        let mut own: Vec<&str> = sentences(&item.text).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|sentence| *counts.entry(sentence).or_default() += 1);
    }
    let own = |item: &Item| {
        let only_here: Vec<&str> = sentences(&item.text).filter(|sentence| counts[sentence] == 1).collect();
        only_here.get(only_here.len() / 2).map(|sentence| (*sentence).to_owned())
    };
    let all: Vec<Question> =
        items.iter().enumerate().filter_map(|(item, page)| Some(Question { sentence: own(page)?, item })).collect();
    let every = all.len().div_ceil(ASKED).max(1);
    all.into_iter().step_by(every).collect()
}

/// Returns the sentences of a text that hold nothing but words, so that no program reads an operator in them.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let is_plain = |sentence: &&str| {
        let has_words = sentence.split_whitespace().all(|word| word.starts_with(char::is_alphanumeric));
        has_words && sentence.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | ',' | '-' | '\''))
    };
    let parts = text.lines().flat_map(|line| line.split(". ")).map(|part| part.trim().trim_end_matches('.'));
    parts.filter(|part| WORDS.contains(&part.split_whitespace().count())).filter(is_plain)
}

fn write(file: &Path, lines: impl Iterator<Item = Value>) -> Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

/// Prints how well a program has found the pages: `found` has the URLs for each question, best first.
fn print(name: &str, questions: &[Question], items: &[Item], found: &[Vec<String>]) {
    let place = |(question, urls): (&Question, &Vec<String>)| {
        urls.iter().take(RESULTS).position(|url| *url == items[question.item].url)
    };
    let places: Vec<Option<usize>> = questions.iter().zip(found).map(place).collect();
    let count = places.len() as f64;
    let mean = places.iter().flatten().map(|place| 1.0 / (place + 1) as f64).sum::<f64>() / count;
    let share = |within: usize| places.iter().flatten().filter(|place| **place < within).count() as f64 / count;
    say!("  {name}: MRR@{RESULTS} {mean:.3}, first {:.3}, among the first {RESULTS} {:.3}", share(1), share(RESULTS));
}

fn by_map(items: &[Item], questions: &[Question]) -> Vec<Vec<String>> {
    let candidates: Vec<Candidate<'_>> = items
        .iter()
        .map(|item| Candidate { url: &item.url, title: Some(&item.title), description: Some(&item.description) })
        .collect();
    let ask = |question: &Question| {
        let order = rank(&question.sentence, &candidates, &Stop::new());
        order.into_iter().take(RESULTS).map(|at| items[at].url.clone()).collect()
    };
    questions.iter().map(ask).collect()
}

/// Returns the example of the index that also has the library with its defaults.
fn example() -> Result<Command> {
    sh::run(sh::cargo().args([
        "build",
        "--release",
        "--quiet",
        "--package",
        "page-index",
        "--example",
        "index_pages",
    ]))?;
    Ok(Command::new(sh::target()?.join("release/examples/index_pages")))
}

/// Asks a program that reads questions from its input and prints an answer a line, both in JSON.
fn by_program(program: &mut Command, questions: &[Question]) -> Result<Vec<Vec<String>>> {
    let name = program.get_program().to_string_lossy().into_owned();
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().with_context(|| name.clone())?;
    let lines: Vec<String> = questions
        .iter()
        .enumerate()
        .map(|(id, question)| json!({ "id": id, "query": question.sentence, "limit": RESULTS }).to_string())
        .collect();
    let mut input = child.stdin.take().context("no input")?;
    let asking = std::thread::spawn(move || input.write_all(lines.join("\n").as_bytes()));
    let output = child.wait_with_output()?;
    ensure!(asking.join().is_ok_and(|sent| sent.is_ok()) && output.status.success(), "{name} has failed");
    let answers = String::from_utf8(output.stdout)?;
    let urls = |line: &str| {
        let answer: Value = serde_json::from_str(line)?;
        let results = answer["results"].as_array().context("no results")?;
        Ok(results.iter().filter_map(|result| result["url"].as_str().map(str::to_owned)).collect())
    };
    let found: Vec<Vec<String>> = answers.lines().map(urls).collect::<Result<_>>()?;
    ensure!(found.len() == questions.len(), "{name} has answered {} of {} questions", found.len(), questions.len());
    Ok(found)
}

/// Imports the pages into a server and asks it over HTTP.
async fn by_server(installation: &Installation, items: &[Item], questions: &[Question]) -> Result<Vec<Vec<String>>> {
    let file: PathBuf = installation.temporary().join("html.jsonl");
    write(&file, items.iter().map(|Item { url, html, .. }| json!({ "url": url, "html": html })))?;
    let file = file.display().to_string();
    ensure!(installation.command(&["index", "import", &file]).status()?.success(), "the import has failed");
    let server = installation.clone().set("limits.keyless_per_minute", "0").server()?;
    let client = server.client(None)?;
    let mut found = Vec::new();
    for question in questions {
        // All pages are of one site, of which an answer has a few pages only unless it is named.
        let body = json!({ "query": question.sentence, "limit": RESULTS, "includeDomains": [HOST] });
        let answer = client.search(&body).await?;
        found.push(answer.data.web.into_iter().flatten().map(|page| page.url.to_string()).collect());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Item {
        let url = format!("https://{HOST}/{}", text.len());
        Item { url, html: String::new(), title: String::new(), description: String::new(), text: text.to_owned() }
    }

    #[test]
    fn a_sentence_stands_on_one_page_only() {
        let common = "This sentence stands on every page of all.";
        let own = "Granite is sawn into slabs of two centimetres";
        let items = [item(&format!("{common}\nShort. {own}.")), item(common), item("a: b c d e f g h")];
        let questions = questions(&items);
        assert_eq!((questions.len(), questions[0].sentence.as_str(), questions[0].item), (1, own, 0));
    }
}
