//! Benchmark of product extraction on one thread: `cargo xtask bench product`.
//!
//! `--data FOLDER` has `product/cases.jsonl`, lines `{"id", "url", "enc"}`, and `product/html/ID.html.gz`; without it, one
//! generated page is read. With `--python PROGRAM`, which must have the package extruct, that reads the same pages.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Error, Read, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::read::GzDecoder;
use page::Page;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use url::Url;

const ROUNDS: usize = 5;

/// Reads lines of JSON `{"url", "html"}` and prints the CPU time in seconds that extruct takes for them.
const EXTRUCT: &str = r#"
import sys, json, time, extruct
pages = [json.loads(line) for line in sys.stdin]
start = time.process_time()
for page in pages:
    try:
        extruct.extract(page["html"], base_url=page["url"], syntaxes=["json-ld", "microdata", "rdfa", "opengraph"], errors="ignore")
    except Exception:
        pass
print(time.process_time() - start)
"#;

struct Source {
    url: Url,
    html: String,
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.windows(2).find(|pair| pair[0] == name).map(|pair| PathBuf::from(&pair[1]));
    let sources = option("--data").map_or_else(made, |folder| read(&folder.join("product")))?;
    let megabytes = sources.iter().map(|source| source.html.len()).sum::<usize>() as f64 / 1e6;
    let mut out = stdout().lock();
    writeln!(out, "{} pages, {megabytes:.1} MB, best of {ROUNDS} rounds on one thread", sources.len())?;

    let (mut parsing, mut extracting, mut found) = (0.0, 0.0, 0);
    for source in &sources {
        let (mut parse, mut extract) = (f64::MAX, f64::MAX);
        for round in 0..ROUNDS {
            let (page, time) = timed(|| Page::parse(&source.html, &source.url));
            parse = parse.min(time);
            let (product, time) = timed(|| extract_product::product(&page));
            extract = extract.min(time);
            found += usize::from(round == 0 && product.is_ok());
        }
        parsing += parse;
        extracting += extract;
    }
    writeln!(out, "{:34} {:>8}", "", "MB/s")?;
    writeln!(out, "{:34} {:>8.1}", "product, of a parsed page", megabytes / extracting)?;
    writeln!(out, "{:34} {:>8.1}", "parsing and product", megabytes / (parsing + extracting))?;
    if let Some(python) = option("--python") {
        let time = extruct(&python, &sources)?;
        writeln!(out, "{:34} {:>8.1}", "extruct, with parsing", megabytes / time)?;
        writeln!(out, "ratio, both with parsing: {:.1}", time / (parsing + extracting))?;
    }
    let share = 100.0 * extracting / (parsing + extracting);
    writeln!(out, "products: {found}; {share:.0}% of the time of parsing and product")
}

fn made() -> Result<Vec<Source>, Error> {
    let offer = json!({"@type": "Offer", "price": "12.50", "priceCurrency": "EUR", "availability": "InStock"});
    let data = json!({"@type": "Product", "name": "Red kettle", "sku": "K-1", "offers": offer});
    let text = "<p class=text>It boils water, and it is red. <a href=/more>More</a></p>".repeat(4000);
    let html = format!(
        "<title>Red kettle</title><script type='application/ld+json'>{data}</script><h1>Red kettle</h1>
         <p class=price>12,50 €</p><button>Add to cart</button>{text}"
    );
    Ok(vec![Source { url: Url::parse("https://shop.test/p/red-kettle").map_err(Error::other)?, html }])
}

fn read(folder: &Path) -> Result<Vec<Source>, Error> {
    let source = |line: &str| {
        let case: Value = serde_json::from_str(line)?;
        let field = |name: &str| case[name].as_str().unwrap_or_default();
        let file = folder.join("html").join(field("id")).with_extension("html.gz");
        let mut bytes = Vec::new();
        GzDecoder::new(File::open(file)?).read_to_end(&mut bytes)?;
        let encoding = encoding_rs::Encoding::for_label(field("enc").as_bytes()).unwrap_or(encoding_rs::UTF_8);
        let url = Url::parse(field("url")).map_err(Error::other)?;
        Ok(Source { url, html: encoding.decode(&bytes).0.into_owned() })
    };
    fs::read_to_string(folder.join("cases.jsonl"))?.lines().map(source).collect()
}

fn extruct(python: &Path, sources: &[Source]) -> Result<f64, Error> {
    let mut child = Command::new(python)
        .args(["-c", EXTRUCT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().ok_or_else(|| Error::other("no standard input"))?;
    for source in sources {
        writeln!(input, "{}", json!({"url": source.url, "html": source.html}))?;
    }
    drop(input);
    let output = child.wait_with_output()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| Error::other("extruct printed no time"))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = seconds();
    let result = black_box(work());
    (result, seconds() - started)
}

fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
