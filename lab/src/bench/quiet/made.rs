//! Made pages: parts that stay or are edited at known checks, with rotating parts between them.

use super::noise::{KINDS, Kind, Noise};
use crate::random::Random;

/// Checks between two edits of a page: at least this many, and up to four times as many.
const MIN_PAUSE: u64 = 7;

/// Part of a page.
enum Part {
    Heading(String),
    Paragraph(String),
    List(Vec<String>),
    Table(Vec<(String, u64)>),
    Noise(Noise),
}

/// Page that is checked again and again.
pub(crate) struct Made {
    template: usize,
    parts: Vec<Part>,
    next_edit: u64,
    random: Random,
}

/// Page at a check.
pub(crate) struct Visit {
    pub(crate) html: String,
    /// Text that an edit has added or removed, if the page was edited.
    pub(crate) edit: Option<String>,
}

const WORDS: [&str; 40] = [
    "harbour",
    "tea",
    "leaves",
    "crates",
    "river",
    "warehouse",
    "orders",
    "kettle",
    "blend",
    "storage",
    "batches",
    "windows",
    "customers",
    "delivery",
    "roast",
    "week",
    "captain",
    "ledger",
    "ropes",
    "north",
    "morning",
    "paper",
    "weight",
    "price",
    "copper",
    "season",
    "garden",
    "valley",
    "boats",
    "keeper",
    "letters",
    "scale",
    "winter",
    "barrel",
    "market",
    "bridge",
    "candle",
    "slate",
    "timber",
    "anchor",
];

fn words(random: &mut Random, count: u64) -> String {
    (0..count).map(|_| WORDS[(random.high() % 40) as usize]).collect::<Vec<_>>().join(" ")
}

impl Made {
    pub(crate) fn new(number: usize) -> Self {
        let mut random = Random::new(number as u64 * 7919 + 34);
        random.high();
        let mut parts = vec![Part::Heading(words(&mut random, 4))];
        for _ in 0..8 + random.high() % 8 {
            parts.push(match random.high() % 6 {
                0 => Part::Heading(words(&mut random, 3)),
                1 => Part::List((0..3 + random.high() % 4).map(|_| words(&mut random, 5)).collect()),
                2 => Part::Table((0..3 + random.high() % 5).map(|row| (words(&mut random, 2), row * 7 + 11)).collect()),
                _ => {
                    let count = 20 + random.high() % 40;
                    Part::Paragraph(words(&mut random, count))
                }
            });
        }
        // Each kind is on three pages at least.
        let first = KINDS[number % KINDS.len()].0;
        let others = (0..1 + random.high() % 3).map(|_| KINDS[(random.high() % 13) as usize].0).collect::<Vec<_>>();
        for kind in [first].into_iter().chain(others) {
            let at = 1 + (random.high() % parts.len() as u64) as usize;
            let noise = Noise::new(kind, &mut random);
            parts.insert(at, Part::Noise(noise));
        }
        let next_edit = MIN_PAUSE + random.high() % (3 * MIN_PAUSE);
        Self { template: number % 5, parts, next_edit, random }
    }

    /// Returns the kinds of its rotating parts.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let kind = |part: &Part| if let Part::Noise(noise) = part { Some(noise.kind) } else { None };
        self.parts.iter().filter_map(kind).collect()
    }

    /// Visits the page.
    pub(crate) fn visit(&mut self, check: u64) -> Visit {
        let mut edit = None;
        if check == self.next_edit {
            edit = Some(self.edit(check));
            self.next_edit = check + MIN_PAUSE + self.random.high() % (3 * MIN_PAUSE);
        }
        let mut main = String::new();
        for part in &mut self.parts {
            main.push_str(&match part {
                Part::Heading(text) => format!("<h2>{text}</h2>"),
                Part::Paragraph(text) => format!("<p>{text}.</p>"),
                Part::List(items) => {
                    format!("<ul>{}</ul>", items.iter().map(|item| format!("<li>{item}</li>")).collect::<String>())
                }
                Part::Table(rows) => {
                    let rows = rows.iter().map(|(name, price)| format!("<tr><td>{name}</td><td>{price} €</td></tr>"));
                    format!("<table><tr><th>Sort</th><th>Price</th></tr>{}</table>", rows.collect::<String>())
                }
                Part::Noise(noise) => noise.next(check, &mut self.random),
            });
        }
        Visit { html: self.framed(&main), edit }
    }

    /// Puts the frame of the page's template around its main part.
    fn framed(&self, main: &str) -> String {
        let menu = "<nav><ul><li><a href=/>Home</a><li><a href=/tea>Tea</a><li><a href=/about>About</a></ul></nav>";
        let foot = "<footer><p>Imprint, privacy, contact</p></footer>";
        let body = match self.template {
            0 => format!("{menu}<main><article>{main}</article></main>{foot}"),
            1 => format!("<div class=page>{menu}<div class=content>{main}</div></div>{foot}"),
            2 => format!(
                "<header><h1>Shop</h1>{menu}</header><main>{main}</main><aside><p>Open from nine to five</p></aside>{foot}"
            ),
            3 => format!("<div id=wrap><div id=left>{menu}</div><div id=right>{main}</div></div>"),
            _ => main.to_owned(),
        };
        format!("<!doctype html><html lang=en><head><title>Made page</title></head><body>{body}</body></html>")
    }

    /// Edits one part that does not rotate, and returns a text that the edit has added or removed.
    fn edit(&mut self, check: u64) -> String {
        let mark = format!("{} {check}", words(&mut self.random, 3));
        let stays: Vec<usize> = (0..self.parts.len()).filter(|&at| !matches!(self.parts[at], Part::Noise(_))).collect();
        let at = stays[(self.random.high() % stays.len() as u64) as usize];
        let roll = self.random.high();
        let removable = stays.len() > 6;
        match &mut self.parts[at] {
            Part::Paragraph(_) if roll.is_multiple_of(4) && removable => {
                let Part::Paragraph(text) = self.parts.remove(at) else { return mark };
                return text;
            }
            Part::Paragraph(_) if roll % 4 == 1 => {
                self.parts.insert(at + (roll / 4 % 2) as usize, Part::Paragraph(mark.clone()));
            }
            Part::Paragraph(text) if roll % 4 == 2 => mark.clone_into(text),
            Part::Paragraph(text) => {
                let middle = text[..text.len() / 2].rfind(' ').unwrap_or(0);
                text.replace_range(middle..middle, &format!(" {mark}"));
            }
            Part::Heading(text) => mark.clone_into(text),
            Part::List(items) => match roll % 3 {
                0 => items.insert(0, mark.clone()),
                1 if items.len() > 2 => return items.remove((roll / 3) as usize % items.len()),
                _ => items.push(mark.clone()),
            },
            Part::Table(rows) => {
                let row = (roll / 3) as usize % rows.len();
                match roll % 3 {
                    0 => rows.insert(row, (mark.clone(), check)),
                    _ => {
                        rows[row].1 += 100 + check;
                        return format!("{} €", rows[row].1);
                    }
                }
            }
            Part::Noise(_) => {}
        }
        mark
    }
}
