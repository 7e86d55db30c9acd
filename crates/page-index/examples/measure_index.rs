//! Measures the index with generated pages.
//!
//! `measure_index FOLDER CORPUS.jsonl PAGES` makes PAGES pages of about 3 KB from the sentences of the corpus
//! (`{"text": …}` a line), puts them into an index in FOLDER with a commit after every 500, and asks queries of two to
//! five words of them, at 1 and at 8 threads.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use page_index::{AnchorText, Asked, IndexedPage, PageIndex, Query, Settings};
use serde_json::Value;

/// Queries of each measurement.
const QUERIES: usize = 2_000;
/// Hosts of the pages.
const HOSTS: usize = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, corpus, pages] = arguments.as_slice() else {
        return Err("measure_index FOLDER CORPUS.jsonl PAGES".into());
    };
    let sentences = sentences(Path::new(corpus))?;
    let pages: usize = pages.parse()?;
    let mut out = std::io::stdout().lock();

    let started = cpu_seconds()?;
    let text: usize = (0..pages).map(|number| page(&sentences, number).text.len()).sum();
    let making = cpu_seconds()? - started;

    let index = PageIndex::open(Path::new(folder), Settings::default())?;
    let (started, clock) = (cpu_seconds()?, Instant::now());
    let mut writer = index.writer()?;
    for number in 0..pages {
        writer.put(&page(&sentences, number))?;
        if number % 500 == 499 {
            writer.commit(&number.to_string())?;
        }
    }
    writer.commit(&pages.to_string())?;
    let committed = clock.elapsed();
    writer.finish()?;
    let cpu = cpu_seconds()? - started - making;
    let stats = index.stats()?;
    let n = pages as f64;
    writeln!(
        out,
        "{} pages of {:.0} bytes of text: {:.0} pages a CPU-second, {:.1} s until committed",
        stats.pages,
        text as f64 / n,
        n / cpu,
        committed.as_secs_f64()
    )?;
    writeln!(
        out,
        "index {:.0} bytes a page, {:.0} over the text; peak memory {} MB",
        stats.bytes as f64 / n,
        (stats.bytes as f64 - text as f64) / n,
        peak_memory()?
    )?;

    let queries: Vec<String> = (0..QUERIES).map(|number| query(&sentences, number)).collect();
    for threads in [1, 8] {
        let mut times = measure(&index, &queries, threads)?;
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
        writeln!(
            out,
            "{threads} threads: p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms, most {:.2} ms",
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0)
        )?;
    }
    Ok(())
}

fn measure(index: &PageIndex, queries: &[String], threads: usize) -> Result<Vec<Duration>, Box<dyn Error>> {
    let ask = |thread: usize| -> Result<Vec<Duration>, page_index::IndexError> {
        let mut times = Vec::new();
        for text in queries.iter().skip(thread).step_by(threads) {
            let query = Query::parse(text);
            let started = Instant::now();
            index.search(&Asked::new(&["team", "*"], &query), &|| false)?;
            times.push(started.elapsed());
        }
        Ok(times)
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || ask(thread))).collect();
        let mut all = Vec::new();
        for handle in handles {
            all.extend(handle.join().map_err(|_| "a thread has panicked")??);
        }
        Ok(all)
    })
}

fn sentences(corpus: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut out = Vec::new();
    for line in BufReader::new(File::open(corpus)?).lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let text = line["text"].as_str().unwrap_or_default();
        out.extend(text.split(". ").filter(|part| part.len() > 30).map(str::to_owned));
    }
    Ok(out)
}

/// Returns a number that looks random, always the same for the same two.
fn random(one: usize, other: usize, most: usize) -> usize {
    let mut number = (one as u64) << 32 | other as u64;
    for _ in 0..2 {
        number = (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
    (number >> 33) as usize % most
}

fn page(sentences: &[String], number: usize) -> IndexedPage {
    let sentence = |at: usize| sentences[random(number, at, sentences.len())].as_str();
    let title: String = sentence(0).split(' ').take(7).collect::<Vec<_>>().join(" ");
    let text: String = (0..20).map(|at| format!("{}.\n", sentence(at))).collect();
    let host = random(number, 99, HOSTS);
    let link = |at| AnchorText { target: format!("key{}", number + at), text: sentence(at).chars().take(20).collect() };
    IndexedPage {
        copy: format!("0198c0de-0000-7000-8000-{number:012}"),
        scope: if number.is_multiple_of(4) { "*".to_owned() } else { "team".to_owned() },
        page_key: format!("key{number}"),
        url: format!("https://www.host{host}.org/section/{}/page-{number}.html", number % 50),
        headings: format!("{}\n{}", sentence(30), sentence(31)),
        description: sentence(1).to_owned(),
        language: Some("en".to_owned()),
        fetched: 1_780_000_000_000 + number as i64 * 40,
        published: number.is_multiple_of(3).then_some(1_700_000_000_000 + number as i64 * 700_000),
        links: (0..40).map(link).collect(),
        title,
        text,
        ..IndexedPage::default()
    }
}

/// Returns the words of a query, as a part of a sentence without its shortest words.
fn query(sentences: &[String], number: usize) -> String {
    let sentence = &sentences[random(number, 1_000, sentences.len())];
    let words: Vec<&str> = sentence.split(' ').filter(|word| word.len() > 3).collect();
    let from = random(number, 1_001, words.len().max(1));
    words.into_iter().skip(from).take(2 + number % 4).collect::<Vec<_>>().join(" ")
}

/// Returns the time that the process has spent on processors.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}

fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    Ok(line.split_whitespace().nth(1).unwrap_or("0").parse::<u64>()? / 1024)
}
