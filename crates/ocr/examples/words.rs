//! Prints the words recognised on the pages of a PDF or image: page, block, line, box, size, weight, confidence, text.

use std::io::Write;
use std::{env, error, fs, io};

use ocr::{Engine, Languages, Pictures, Renderer};

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut engine = Engine::new(&Languages::find(None, &[])?)?;
    let mut out = io::stdout().lock();
    for path in env::args().skip(1) {
        let bytes = fs::read(path)?;
        let renderer = Renderer::new(bytes.clone()).ok();
        let pictures = if renderer.is_some() { None } else { Some(Pictures::open(&bytes)?) };
        let count = renderer.as_ref().map(Renderer::pages).or(pictures.as_ref().map(Pictures::count)).unwrap_or(0);
        for number in 1..=count {
            let frame = match (&renderer, &pictures) {
                (Some(renderer), _) => renderer.render(number)?,
                (None, Some(pictures)) => pictures.frame(number)?,
                (None, None) => break,
            };
            let page = engine.page(&frame)?;
            let (dpi, rules, shades) = (frame.dpi, page.rules.len(), page.shades.len());
            writeln!(out, "# page {number}: {dpi} dpi, turned {}, {rules} rules, {shades} shades", page.turned)?;
            for word in &page.words {
                let area = &word.area;
                writeln!(
                    out,
                    "{number}\t{}\t{}\t{:.1} {:.1} {:.1} {:.1}\t{:.2}\t{:.3}\t{:.2}\t{}",
                    word.block,
                    word.line,
                    area.x0,
                    word.baseline,
                    area.x1,
                    area.y1,
                    word.size,
                    word.weight,
                    word.confidence,
                    word.text
                )?;
            }
        }
    }
    Ok(())
}
