//! Indexes pages and answers queries, both as JSON lines.
//!
//! `index_pages FOLDER PAGES.jsonl [plain]` reads pages (`{"url": …, "title": …, "text": …}`, the fields of
//! `IndexedPage`; those missing are empty), puts them into an index in FOLDER, which must not exist, and then answers
//! each line of its input: `{"id": …, "query": …, "limit": …}` with `{"id": …, "ms": …, "results": [{"url": …, "score": …}]}`.
//! With `plain` it is an index of the library with its defaults instead: one field, its tokenizer, BM25.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::Instant;

use page_index::{Asked, IndexedPage, PageIndex, Query, Settings};
use serde::Deserialize;
use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query as Search, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TEXT, Value as _};
use tantivy::{Index, TantivyDocument, Term};

#[derive(Deserialize)]
struct Line {
    id: Value,
    query: String,
    #[serde(default = "ten")]
    limit: usize,
}

fn ten() -> usize {
    10
}

type Answers = Box<dyn FnMut(&Line) -> Result<Vec<(String, f32)>, Box<dyn Error>>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, pages, rest @ ..] = arguments.as_slice() else {
        return Err("index_pages FOLDER PAGES.jsonl [plain] < QUERIES.jsonl".into());
    };
    let folder = Path::new(folder);
    if folder.exists() {
        return Err(format!("{} exists already", folder.display()).into());
    }
    let lines = BufReader::new(File::open(pages)?).lines();
    let pages = lines.map(|line| Ok::<_, Box<dyn Error>>(serde_json::from_str::<IndexedPage>(&line?)?));
    let mut answers = if rest.is_empty() { ours(folder, pages)? } else { plain(folder, pages)? };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let started = Instant::now();
        let results = answers(&line)?;
        let ms = started.elapsed().as_secs_f64() * 1000.0;
        let results: Vec<Value> = results.iter().map(|(url, score)| json!({"url": url, "score": score})).collect();
        writeln!(out, "{}", json!({"id": line.id, "ms": ms, "results": results}))?;
    }
    Ok(())
}

fn ours(
    folder: &Path,
    pages: impl Iterator<Item = Result<IndexedPage, Box<dyn Error>>>,
) -> Result<Answers, Box<dyn Error>> {
    let index = PageIndex::open(folder, Settings::default())?;
    let mut writer = index.writer()?;
    for (number, page) in pages.enumerate() {
        let page = page?;
        let page_key = if page.page_key.is_empty() { page.url.clone() } else { page.page_key.clone() };
        writer.put(&IndexedPage { copy: format!("{number:012}"), scope: "*".to_owned(), page_key, ..page })?;
    }
    writer.commit("all")?;
    writer.finish()?;
    let stats = index.stats()?;
    writeln!(std::io::stderr(), "{} pages, {} bytes", stats.pages, stats.bytes)?;
    Ok(Box::new(move |line| {
        let query = Query::parse(&line.query);
        let asked = Asked { limit: line.limit, per_site: None, ..Asked::new(&["*"], &query) };
        Ok(index.search(&asked, &|| false)?.into_iter().map(|hit| (hit.url, hit.score)).collect())
    }))
}

fn plain(
    folder: &Path,
    pages: impl Iterator<Item = Result<IndexedPage, Box<dyn Error>>>,
) -> Result<Answers, Box<dyn Error>> {
    let mut schema = Schema::builder();
    let (url, text) = (schema.add_text_field("url", STRING | STORED), schema.add_text_field("text", TEXT | STORED));
    std::fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema.build())?;
    let mut writer = index.writer_with_num_threads(1, 48 << 20)?;
    for page in pages {
        let page = page?;
        let mut document = TantivyDocument::default();
        document.add_text(url, &page.url);
        document.add_text(text, format!("{}\n{}\n{}", page.title, page.description, page.text));
        writer.add_document(document)?;
    }
    writer.commit()?;
    let reader = index.reader()?;
    Ok(Box::new(move |line| {
        let searcher = reader.searcher();
        let search = any_word(&index, text, &line.query)?;
        let mut out = Vec::new();
        for (score, address) in searcher.search(&search, &TopDocs::with_limit(line.limit).order_by_score())? {
            let document: TantivyDocument = searcher.doc(address)?;
            let url = document.get_first(url).and_then(|value| value.as_str().map(str::to_owned));
            out.push((url.unwrap_or_default(), score));
        }
        Ok(out)
    }))
}

fn any_word(index: &Index, field: Field, query: &str) -> Result<BooleanQuery, Box<dyn Error>> {
    let mut tokenizer = index.tokenizer_for_field(field)?;
    let mut stream = tokenizer.token_stream(query);
    let mut terms: Vec<(Occur, Box<dyn Search>)> = Vec::new();
    while let Some(token) = stream.next() {
        let term = TermQuery::new(Term::from_field_text(field, &token.text), IndexRecordOption::WithFreqs);
        terms.push((Occur::Should, Box::new(term)));
    }
    Ok(BooleanQuery::new(terms))
}
