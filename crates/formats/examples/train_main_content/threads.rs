//! Synthetic comments and lists of articles, for composed pages.
//!
//! Markup, class names and wording are drawn at random. A style belongs to one fold, so that no structure in the test
//! data is in the training data.

use std::fmt::Write;

use crate::random::Random;
use crate::splice::{MARK, escaped};

/// Tags of the list, of an item, and of the text in it.
const SHAPES: [[&str; 3]; 10] = [
    ["ol", "li", "p"],
    ["div", "div", "p"],
    ["section", "article", "p"],
    ["ul", "li", "div"],
    ["div", "article", "div"],
    ["div", "section", "p"],
    ["section", "div", "div"],
    ["ul", "li", "p"],
    ["div", "div", "div"],
    ["div", "div", "blockquote"],
];
/// Classes of the list, an item, the author, the date, the text and the buttons.
const NAMES: [[&str; 6]; 10] = [
    ["comments", "comment", "comment-author vcard", "comment-meta", "comment-content", "reply"],
    ["", "", "", "", "", ""],
    ["commentlist", "media", "media-heading", "time", "media-body", "actions"],
    ["sc-ab12", "sc-fe83", "sc-77b0", "sc-03cd", "sc-9b1e", "sc-5d5d"],
    ["discussion", "post", "user", "posted", "message", "controls"],
    ["kommentare", "kommentar", "nutzer", "datum", "inhalt", "antworten"],
    ["c-list", "c-list__item", "c-list__name", "c-list__when", "c-list__body", "c-list__tools"],
    ["responses", "response", "by", "at", "said", "like"],
    ["ugc", "entry", "author", "date", "text", "links"],
    ["opinie", "reactie", "naam", "tijd", "tekst", "knoppen"],
];
const OPENINGS: [&str; 10] = [
    "{n} Comments",
    "Kommentare ({n})",
    "What do you think?",
    "{n} responses",
    "",
    "Join the discussion",
    "Commentaires",
    "{n} thoughts on this",
    "Comentarios de los lectores",
    "Reader comments ({n})",
];
const PEOPLE: [&str; 16] = [
    "Anna",
    "jo_42",
    "Piet",
    "M. Keller",
    "Guest",
    "RedFox",
    "sandra.w",
    "Luis",
    "The Real Tim",
    "Oma",
    "Kaz",
    "Ivy L.",
    "nn",
    "Anonymous",
    "dave1968",
    "Chiara",
];
const BUTTONS: [&str; 10] = [
    "Reply",
    "Antworten",
    "Like 3 Reply",
    "Report abuse",
    "Répondre",
    "▲ 4 ▼ 1",
    "",
    "Quote",
    "Reply · Share",
    "Responder",
];
const MORE: [&str; 10] = [
    "More stories",
    "Mehr zum Thema",
    "Read next",
    "",
    "You may also like",
    "Latest news",
    "À lire aussi",
    "From the same author",
    "Más noticias",
    "Previous entries",
];
const TEASERS: [[&str; 3]; 10] = [
    ["more-stories", "story", "title"],
    ["", "", ""],
    ["posts", "post", "entry-title"],
    ["sc-8a01", "sc-bb2f", "sc-1c9d"],
    ["teaser-list", "teaser", "headline"],
    ["river", "card", "card-title"],
    ["archive", "hentry", "title"],
    ["u-grid", "u-cell", "u-big"],
    ["newsfeed", "item", "item-head"],
    ["blocco", "notizia", "titolo"],
];

/// Random choices for a page from the lists above.
pub(crate) struct Style<'r> {
    random: &'r mut Random,
    fold: usize,
    folds: usize,
}

impl Style<'_> {
    /// Creates a style for pages of `fold`.
    pub(crate) fn new(random: &mut Random, fold: usize, folds: usize) -> Style<'_> {
        Style { random, fold, folds: folds.max(1) }
    }

    /// Returns a random entry of a list among those of the fold: fold 1 of 5 has entries 1 and 6.
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        let own: Vec<T> = list.iter().copied().skip(self.fold % self.folds).step_by(self.folds).collect();
        let from = if own.is_empty() { list } else { &own };
        from[self.random.below(from.len())]
    }

    fn any<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.random.below(list.len())]
    }

    fn date(&mut self) -> String {
        let (day, month, hour) = (1 + self.random.below(28), 1 + self.random.below(12), self.random.below(24));
        match self.fold % 3 {
            0 => format!("{day:02}.{month:02}.2019, {hour:02}:15"),
            1 => format!("{hour} hours ago"),
            _ => format!("2019-{month:02}-{day:02} at {hour:02}:15"),
        }
    }

    /// Returns a thread of comments made of `sentences`.
    pub(crate) fn comments(&mut self, sentences: &[String]) -> String {
        let [list, item, body] = self.of(&SHAPES);
        let names = self.of(&NAMES).map(attribute);
        let (opening, buttons) = (self.of(&OPENINGS), self.of(&BUTTONS));
        let count = 3 + self.random.below(22);
        let form = self.random.below(3);
        let mut out = format!("<div{} {MARK}=\"\">", names[0]);
        if !opening.is_empty() {
            let tag = ["h2", "h3", "div", "h4"][self.random.below(4)];
            let _ = write!(out, "<{tag}>{}</{tag}>", opening.replace("{n}", &count.to_string()));
        }
        if form == 0 {
            out.push_str(FORM);
        }
        let _ = write!(out, "<{list}>");
        for _ in 0..count {
            let author = self.any(&PEOPLE);
            let date = self.date();
            let _ = write!(
                out,
                "<{item}{}><div{}><a href=\"/u/{}\">{author}</a></div><span{}>{date}</span><{body}{}>",
                names[1],
                names[2],
                self.random.below(9999),
                names[3],
                names[4]
            );
            let text: Vec<String> =
                (0..=self.random.below(5)).map(|_| escaped(&sentences[self.random.below(sentences.len())])).collect();
            let _ = write!(out, "{}</{body}>", text.join(if body == "div" { "<br>" } else { " " }));
            if !buttons.is_empty() {
                let _ = write!(out, "<div{}><a href=\"#r\">{buttons}</a></div>", names[5]);
            }
            let _ = write!(out, "</{item}>");
        }
        let _ = write!(out, "</{list}>");
        if form == 1 {
            out.push_str(FORM);
        }
        out.push_str("</div>");
        out
    }

    /// Returns links to more articles with the beginning of each, from pairs `(title, beginning)`.
    pub(crate) fn teasers(&mut self, articles: &[(String, String)]) -> String {
        let names = self.of(&TEASERS).map(attribute);
        let [list, item, _] = self.of(&SHAPES);
        let heading = ["h2", "h3", "h4", "div"][self.random.below(4)];
        let (opening, dated) = (self.of(&MORE), self.random.below(2) == 0);
        let mut out = format!("<div{} {MARK}=\"\">", names[0]);
        if !opening.is_empty() {
            let _ = write!(out, "<h3>{opening}</h3>");
        }
        let _ = write!(out, "<{list}>");
        for _ in 0..4 + self.random.below(10) {
            let (title, beginning) = &articles[self.random.below(articles.len())];
            let date = if dated { format!("<span>{}</span>", self.date()) } else { String::new() };
            let words = 8 + self.random.below(50);
            let beginning: Vec<&str> = beginning.split_whitespace().take(words).collect();
            let _ = write!(
                out,
                "<{item}{}><{heading}{}><a href=\"/a/{}\">{}</a></{heading}>{date}<p>{}</p></{item}>",
                names[1],
                names[2],
                self.random.below(9999),
                escaped(title),
                escaped(&beginning.join(" "))
            );
        }
        let _ = write!(out, "</{list}></div>");
        out
    }
}

const FORM: &str =
    "<form action=\"/c\"><label>Name</label><input name=\"n\"><textarea></textarea><button>Send</button></form>";

fn attribute(names: &str) -> String {
    if names.is_empty() { String::new() } else { format!(" class=\"{names}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_share_no_style() {
        let mut random = Random::new(1);
        for fold in 0..5 {
            let mut style = Style::new(&mut random, fold, 5);
            for _ in 0..20 {
                let drawn = style.of(&NAMES);
                assert_eq!(NAMES.iter().position(|names| *names == drawn).map(|at| at % 5), Some(fold));
            }
        }
        let text = Style::new(&mut random, 0, 5).comments(&["Well said.".to_owned()]);
        assert!(text.matches("Well said.").count() >= 3, "{text}");
    }
}
