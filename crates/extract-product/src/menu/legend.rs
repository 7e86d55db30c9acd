//! Marks of diets and allergens, and the page's explanation of them.

use std::collections::BTreeMap;

/// Limit on the letters of a mark.
const MAX_MARK: usize = 4;
/// Limit on the letters of a line that explains marks.
const MAX_LINE: usize = 1200;

/// The marks that a page explains.
#[derive(Debug, Default)]
pub(super) struct Legend {
    /// The diet of each mark; `None` for allergens and other notes.
    marks: BTreeMap<String, Option<&'static str>>,
}

/// Diets, and the words for them in lower case.
static DIETS: [(&str, &[&str]); 10] = [
    (
        "vegan",
        &[
            "vegan",
            "vegano",
            "vegana",
            "végan",
            "végétalien",
            "веган",
            "ヴィーガン",
            "ビーガン",
            "纯素",
            "비건",
            "veganistisch",
            "vegansk",
            "plant-based",
            "plant based",
        ],
    ),
    (
        "vegetarian",
        &[
            "vegetari",
            "végétari",
            "vegetarisch",
            "vegetarisk",
            "vegetarián",
            "wegetaria",
            "вегетариан",
            "ベジタリアン",
            "素食",
            "채식",
            "veggie",
            "vejetaryen",
            "meatless",
        ],
    ),
    (
        "gluten-free",
        &[
            "gluten free",
            "gluten-free",
            "glutenfrei",
            "glutenfri",
            "glutenvrij",
            "sans gluten",
            "senza glutine",
            "sin gluten",
            "sem glúten",
            "bezlepkov",
            "bez lepku",
            "bezglutenow",
            "gluténmentes",
            "без глютена",
            "グルテンフリー",
            "no gluten",
            "non gluten",
            "non-gluten",
        ],
    ),
    (
        "lactose-free",
        &[
            "lactose free",
            "lactose-free",
            "laktosefrei",
            "laktosefri",
            "laktosfri",
            "lactosevrij",
            "sans lactose",
            "senza lattosio",
            "sin lactosa",
            "sem lactose",
            "bez laktóz",
            "laktoosi",
        ],
    ),
    ("dairy-free", &["dairy free", "dairy-free", "milchfrei", "sans lait", "non-dairy"]),
    ("nut-free", &["nut free", "nut-free", "nussfrei"]),
    ("halal", &["halal", "halāl", "حلال", "ハラル", "ハラール", "清真"]),
    ("kosher", &["kosher", "koscher", "casher", "כשר"]),
    ("pescatarian", &["pescatari", "pescetari"]),
    ("low-carb", &["low carb", "low-carb"]),
];

/// Returns the diet that a text names.
pub(super) fn diet_of(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    // "Contains gluten" and "not vegan" are no diets.
    let is_denied = [
        "not ",
        "non-veg",
        "non veg",
        "nicht ",
        "contains",
        "enthält",
        "contient",
        "contiene",
        "option",
        "can be made",
        "available",
    ];
    if is_denied.iter().any(|word| text.contains(word)) {
        return None;
    }
    DIETS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word))).map(|(diet, _)| *diet)
}

/// Returns the diet of a text that says nothing else: `vegan`, `glutenfreie`, but not `veggie burger`.
pub(super) fn diet_alone(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let is_short = text.split_whitespace().count() <= 2 && text.chars().count() <= 24;
    let lower = text.to_lowercase();
    // Two words are one diet only where the language says "free of" in two words.
    let is_one = !lower.contains(' ')
        || ["free", "sans ", "sin ", "senza ", "sem ", "bez ", "без "].iter().any(|word| lower.contains(word));
    diet_of(text).filter(|_| is_short && is_one)
}

impl Legend {
    /// Reads the explanations among the lines of a page.
    pub(super) fn read<'t>(lines: impl Iterator<Item = &'t str>) -> Self {
        let mut legend = Legend::default();
        for line in lines.filter(|line| line.len() <= MAX_LINE) {
            let entries = entries(line);
            let has_diet = entries.iter().any(|entry| diet_of(&entry.meaning).is_some());
            if has_diet || entries.len() >= 2 {
                for entry in entries {
                    let diet = diet_of(&entry.meaning);
                    let known = legend.marks.entry(entry.mark).or_insert(diet);
                    *known = known.or(diet);
                }
            }
        }
        legend
    }

    fn get(&self, mark: &str) -> Option<Option<&'static str>> {
        let exact = self.marks.get(mark).copied();
        let by_case = || {
            let mut alike = self.marks.iter().filter(|(known, _)| known.eq_ignore_ascii_case(mark));
            alike.next().filter(|_| alike.next().is_none()).map(|(_, diet)| *diet)
        };
        exact.or_else(by_case)
    }

    /// Takes the explained marks off the ends of a text, and those in brackets; returns the rest and the diets.
    pub(super) fn strip(&self, text: &str) -> UnmarkedText {
        let mut marked = UnmarkedText { rest: text.to_owned(), diets: Vec::new() };
        while self.strip_brackets(&mut marked) || self.strip_edge(&mut marked) {}
        marked.rest = marked.rest.trim().to_owned();
        marked
    }

    /// Takes off a pair of brackets with nothing but marks.
    fn strip_brackets(&self, marked: &mut UnmarkedText) -> bool {
        let pairs = [('(', ')'), ('[', ']'), ('（', '）'), ('{', '}')];
        let mut from = 0;
        while let Some(open) = marked.rest[from..].find(['(', '[', '（', '{']).map(|at| at + from) {
            let sign = marked.rest[open..].chars().next().unwrap_or('(');
            from = open + sign.len_utf8();
            let end = pairs
                .iter()
                .find(|pair| pair.0 == sign)
                .and_then(|pair| marked.rest[from..].find(pair.1).map(|at| (at + from, pair.1)));
            let Some((close, sign)) = end else { continue };
            let inner = marked.rest[from..close].to_owned();
            if let Some(diets) = self.diets(&inner) {
                marked.add(&diets);
                marked.rest.replace_range(open..close + sign.len_utf8(), " ");
                marked.rest = crate::tags::squeezed(&marked.rest);
                return true;
            }
        }
        false
    }

    /// The diets of the marks that a text consists of; `None` if it has other words.
    fn diets(&self, text: &str) -> Option<Vec<&'static str>> {
        if let Some(diet) = diet_alone(text).filter(|_| !text.contains(',')) {
            return Some(vec![diet]);
        }
        let marks = text.split([',', '/', ' ', ';', '|', '·', '•', '+', '&', '.']).filter(|mark| !mark.is_empty());
        let known: Option<Vec<_>> = marks.map(|mark| self.get(mark).or_else(|| diet_of(mark).map(Some))).collect();
        known.filter(|known| !known.is_empty()).map(|known| known.into_iter().flatten().collect())
    }

    /// Takes off a mark at the end, or a sign at the start.
    fn strip_edge(&self, marked: &mut UnmarkedText) -> bool {
        let text = marked.rest.trim_end();
        let end = text.trim_end_matches(|c: char| is_raised_digit(c)).trim_end_matches([',', ' ']);
        if end.len() < text.len() && text[end.len()..].chars().any(is_raised_digit) {
            marked.rest = end.to_owned();
            return true;
        }
        let last = text.rsplit([' ', '\u{a0}', ',']).next().unwrap_or_default();
        let is_whole = !last.is_empty() && last.len() < text.len() && !last.chars().any(char::is_lowercase);
        if let Some(diet) =
            Some(last).filter(|_| is_whole).and_then(|last| self.marks.get(last).copied().or_else(|| self.run(last)))
        {
            let rest = text[..text.len() - last.len()].trim_end_matches([' ', ',', '\u{a0}']).to_owned();
            marked.take(diet, rest);
            return true;
        }
        self.strip_sign(marked)
    }

    /// A number or a letter in a list of marks without blanks: `1,3`.
    fn run(&self, last: &str) -> Option<Option<&'static str>> {
        let is_sign = |c: char| !c.is_alphanumeric();
        last.chars().all(is_sign).then(|| self.get(last)).flatten()
    }

    fn strip_sign(&self, marked: &mut UnmarkedText) -> bool {
        let text = marked.rest.trim();
        for (mark, diet) in self.marks.iter().rev().filter(|(mark, _)| mark.chars().all(|c| !c.is_alphanumeric())) {
            let rest = text.strip_suffix(mark.as_str()).or_else(|| text.strip_prefix(mark.as_str()));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()).map(|rest| rest.trim().to_owned()) {
                marked.take(*diet, rest);
                return true;
            }
        }
        false
    }
}

/// A text without its marks.
#[derive(Debug, PartialEq)]
pub(super) struct UnmarkedText {
    pub(super) rest: String,
    pub(super) diets: Vec<&'static str>,
}

impl UnmarkedText {
    fn add(&mut self, diets: &[&'static str]) {
        self.diets.extend(diets);
    }

    fn take(&mut self, diet: Option<&'static str>, rest: String) {
        self.diets.extend(diet);
        self.rest = rest;
    }
}

fn is_raised_digit(c: char) -> bool {
    matches!(c, '¹' | '²' | '³' | '⁰'..='⁹' | 'ᵃ'..='ᶻ')
}

/// A mark and what it means.
struct Entry {
    mark: String,
    meaning: String,
}

/// The explanations in a line: `V = vegan, GF: gluten free`, `(V) vegan (GF) gluten free`, `vegan (V), gluten free (GF)`.
fn entries(line: &str) -> Vec<Entry> {
    let bracketed = bracketed(line);
    if !bracketed.is_empty() {
        return bracketed;
    }
    let is_intro = |&at: &usize| {
        at < 30
            && (line[..at].chars().count() > MAX_MARK
                || [" = ", "=", " - ", " – "].iter().any(|sign| line[at + 2..].contains(sign)))
    };
    let intro = line.find(": ").filter(is_intro).map_or(0, |at| at + 2);
    let parts = line[intro..].split([',', ';', '|', '•', '·', '\n']).flat_map(|part| part.split(" / "));
    let found: Vec<Entry> = parts.clone().filter_map(|part| entry(part.trim().trim_end_matches('.'))).collect();
    if !found.is_empty() {
        return found;
    }
    // `A gluten, C eggs, G milk`
    let codes: Option<Vec<Entry>> = parts.map(|part| coded(part.trim())).collect();
    codes.filter(|codes| codes.len() >= 3).unwrap_or_default()
}

fn coded(part: &str) -> Option<Entry> {
    let (mark, meaning) = part.split_once(' ')?;
    let is_code = mark.len() <= 2 && mark.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    (is_code && meaning.chars().count() >= 2).then(|| Entry { mark: mark.to_owned(), meaning: meaning.to_owned() })
}

fn entry(part: &str) -> Option<Entry> {
    for separator in ["=", ":", " – ", " - ", " — ", "→", "–", ")"] {
        let Some((left, right)) = part.split_once(separator) else { continue };
        let (left, right) =
            (left.trim_matches([' ', '(', ')', '[', ']', '"']), right.trim_matches([' ', '(', ')', '[', ']', '"']));
        if is_mark(left) && right.chars().count() >= 2 {
            return Some(Entry { mark: left.to_owned(), meaning: right.to_owned() });
        }
        if is_mark(right) && diet_of(left).is_some() {
            return Some(Entry { mark: right.to_owned(), meaning: left.to_owned() });
        }
    }
    let (first, rest) = part.split_once(' ')?;
    let is_sign = first.chars().all(|c| !c.is_alphanumeric()) || first.chars().all(char::is_uppercase);
    (is_mark(first) && is_sign && diet_of(rest).is_some() && rest.split_whitespace().count() <= 4)
        .then(|| Entry { mark: first.to_owned(), meaning: rest.to_owned() })
}

/// Explanations with the mark in brackets, before or after its meaning.
fn bracketed(line: &str) -> Vec<Entry> {
    let mut marks: Vec<std::ops::Range<usize>> = Vec::new();
    for (open, _) in line.match_indices(['(', '[']) {
        let Some(length) = line[open..].find([')', ']']) else { break };
        let is_after = marks.last().is_none_or(|last| last.end <= open);
        if is_after && is_mark(line[open + 1..open + length].trim()) {
            marks.push(open..open + length + 1);
        }
    }
    let Some(first) = marks.first() else { return Vec::new() };
    let before = line[..first.start].trim().trim_end_matches([':', '-', '–', '*']).trim();
    let is_forward = before.is_empty() || line[..first.start].trim_end().ends_with(':') || diet_of(before).is_none();
    let edge = [' ', ',', ';', '=', '-', '–', ':', '.', '|', '/', '•', '·'];
    let meaning = |at: usize| {
        let (start, end) = if is_forward {
            (marks[at].end, marks.get(at + 1).map_or(line.len(), |next| next.start))
        } else {
            (if at == 0 { 0 } else { marks[at - 1].end }, marks[at].start)
        };
        line[start..end].trim_matches(edge).to_owned()
    };
    let entries = (0..marks.len())
        .map(|at| Entry { mark: line[marks[at].start + 1..marks[at].end - 1].trim().to_owned(), meaning: meaning(at) });
    let entries: Vec<Entry> = entries.filter(|entry| entry.meaning.chars().count() >= 3).collect();
    // One mark in brackets is the mark of a dish, unless it is all that the line says.
    if entries.iter().any(|entry| diet_of(&entry.meaning).is_some()) { entries } else { Vec::new() }
}

fn is_mark(text: &str) -> bool {
    let count = text.chars().count();
    (1..=MAX_MARK).contains(&count) && !text.contains(char::is_whitespace) && !text.contains(['€', '$', '£', '%', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(legend: &[&str], text: &str, rest: &str, diets: &[&'static str]) {
        let legend = Legend::read(legend.iter().copied());
        let marked = legend.strip(text);
        assert_eq!((marked.rest.as_str(), marked.diets.as_slice()), (rest, diets), "{text} {legend:?}");
    }

    #[test]
    fn explained_marks_leave_the_name() {
        let key = ["V = vegan, VG = vegetarian, GF = gluten free"];
        check(&key, "Hummus (V)", "Hummus", &["vegan"]);
        check(&key, "Hummus (V, GF)", "Hummus", &["vegan", "gluten-free"]);
        check(&key, "Hummus V GF", "Hummus", &["gluten-free", "vegan"]);
        check(&key, "Hummus (large)", "Hummus (large)", &[]);
        check(&["(v) vegetarian (ve) vegan"], "Soup (ve)", "Soup", &["vegan"]);
        check(&["Vegetarian (V), vegan (VE)"], "Soup (VE)", "Soup", &["vegan"]);
        check(&["* vegetarisch"], "Suppe*", "Suppe", &["vegetarian"]);
        check(&["🌱 vegan"], "🌱 Suppe", "Suppe", &["vegan"]);
        check(&["🌱 = Vegan | 🌾 = Glutenfrei"], "Suppe 🌱🌾", "Suppe", &["gluten-free", "vegan"]);
        check(&["Key: V - vegetarian; N - contains nuts"], "Pie (V) (N)", "Pie", &["vegetarian"]);
        check(&["1 = mit Farbstoff, 2 = mit Konservierungsstoff"], "Cola (1,2)", "Cola", &[]);
        check(&["A: Gluten, B: Krebstiere, C: Ei"], "Nudeln (A, C)", "Nudeln", &[]);
        check(&[], "Hummus (V)", "Hummus (V)", &[]);
        check(&[], "Linsensuppe (vegan)", "Linsensuppe", &["vegan"]);
        check(&[], "Schnitzel ¹ ²", "Schnitzel", &[]);
    }

    #[test]
    fn diets_are_named_in_many_languages() {
        for (text, diet) in [
            ("Glutenfrei", "gluten-free"),
            ("végétarien", "vegetarian"),
            ("senza lattosio", "lactose-free"),
            ("ハラル", "halal"),
        ] {
            assert_eq!(diet_of(text), Some(diet));
        }
        assert_eq!(diet_of("not vegan"), None);
        assert_eq!(diet_of("contains gluten"), None);
    }
}
