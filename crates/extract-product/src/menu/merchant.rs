//! Name, type and location of the place that serves a menu.

use page::Page;
use serde_json::Value as Json;
use wire::Merchant;

use crate::survey::Survey;

use super::lines::Lines;
use super::words::{LISTS, tokens};

/// Limit on the letters of a name.
const MAX_NAME: usize = 120;
/// Signs between the parts of a title.
const SEPARATORS: [&str; 9] = [" | ", " – ", " — ", " - ", " · ", " • ", " » ", " :: ", ": "];

/// Finds the merchant of a page without structured data.
pub(super) fn shown_merchant(page: &Page, survey: &Survey<'_>, lines: &Lines) -> Merchant {
    let name = site_name(survey)
        .or_else(|| titled(page, survey, lines))
        .or_else(|| signed(lines))
        .or_else(|| headed(page, survey))
        .unwrap_or_else(|| host(page));
    let kind = kind_of(&name).map(str::to_owned);
    Merchant { name, kind, location: address(page) }
}

fn site_name(survey: &Survey<'_>) -> Option<String> {
    let names = ["og:site_name", "application-name"];
    let metas = names.iter().filter_map(|name| survey.metas.iter().find(|meta| meta.name.eq_ignore_ascii_case(name)));
    metas.map(|meta| meta.content.trim()).find(|name| is_usable(name)).map(str::to_owned)
}

fn is_usable(name: &str) -> bool {
    let count = name.chars().count();
    (2..=MAX_NAME).contains(&count) && !is_menu_word(name) && name.chars().any(char::is_alphabetic)
}

/// The part of the title that names the place.
fn titled(page: &Page, survey: &Survey<'_>, lines: &Lines) -> Option<String> {
    let mut parts = vec![survey.title.as_str()];
    for separator in SEPARATORS {
        parts = parts.iter().flat_map(|part| part.split(separator)).collect();
    }
    let parts: Vec<&str> = parts.into_iter().filter(|part| is_usable(without_menu(part))).collect();
    let aside: String = lines
        .lines
        .iter()
        .filter(|line| line.aside)
        .map(|line| line.text.to_lowercase())
        .collect::<Vec<_>>()
        .join("\n");
    let host = host(page);
    let headings: Vec<String> = survey.headings.iter().map(|&at| crate::tags::text(page, at).to_lowercase()).collect();
    let score = |whole: &&str| {
        let part = without_menu(whole);
        let lower = part.to_lowercase();
        let in_host = tokens(&lower).any(|token| token.len() > 2 && host.contains(token));
        let is_heading = headings.iter().any(|heading| heading.contains(&lower));
        let points = [in_host, aside.contains(&lower), LISTS.place.occur_in(part)]
            .into_iter()
            .filter(|point| *point)
            .map(|_| 1)
            .sum::<i32>();
        let is_page = LISTS.menu.occur_in(whole);
        2 * points + i32::from(is_heading && !LISTS.section.occur_in(part)) - if is_page { 3 } else { 0 }
    };
    let best = parts.iter().map(score).max()?;
    // The name of a site mostly comes last.
    parts.iter().rev().find(|part| score(part) == best).map(|part| without_menu(part).to_owned())
}

fn headed(page: &Page, survey: &Survey<'_>) -> Option<String> {
    let headings = survey.headings.iter().map(|&at| crate::tags::text(page, at));
    headings
        .map(|heading| without_menu(&heading).to_owned())
        .find(|heading| is_usable(heading) && !LISTS.section.occur_in(heading))
}

/// The name in a copyright notice, or a place in the footer.
fn signed(lines: &Lines) -> Option<String> {
    let notice = |text: &str| {
        let (_, rest) = text.split_once('©').or_else(|| text.split_once("Copyright"))?;
        let rest = rest.trim_start_matches(|c: char| !c.is_alphabetic());
        let rest = rest.strip_prefix("by ").unwrap_or(rest);
        rest.split(['.', '|', '–', '-', '•', '·', ',', '©']).next().map(|name| name.trim().to_owned())
    };
    let notices = lines.lines.iter().filter(|line| line.text.len() < 200).filter_map(|line| notice(&line.text));
    let first = |text: &str| text.split([',', '|', '•', '·']).next().map(|name| name.trim().to_owned());
    let places =
        lines.lines.iter().filter(|line| line.aside && line.text.len() < 120).filter_map(|line| first(&line.text));
    let is_name = |name: &String| is_usable(name) && name.split_whitespace().count() <= 6;
    notices.chain(places.filter(|name| LISTS.place.occur_in(name))).find(is_name)
}

fn host(page: &Page) -> String {
    page.url().host_str().map(|host| host.trim_start_matches("www.").to_owned()).unwrap_or_default()
}

/// Whether a text says no more than that this is a menu.
pub(super) fn is_menu_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    let rest = [
        "our",
        "the",
        "food",
        "drinks",
        "drink",
        "home",
        "and",
        "unsere",
        "und",
        "die",
        "la",
        "le",
        "notre",
        "nos",
        "il",
        "nuestra",
        "a",
        "de",
        "online",
        "order",
        "page",
        "lunch",
        "dinner",
        "brunch",
        "speisen",
        "getränke",
        "welcome",
        "willkommen",
    ];
    let is_known =
        |token: &str| LISTS.menu.occur_in(token) || rest.contains(&token) || token.chars().all(|c| c.is_ascii_digit());
    tokens(&lower).all(is_known)
}

/// A title without the word for a menu before or behind the name.
fn without_menu(part: &str) -> &str {
    let mut part = part.trim();
    let links = [
        "of ", "at ", "vom ", "von ", "im ", "in der ", "der ", "des ", "du ", "de ", "del ", "della ", "di ", "zum ",
        "for ", "van ", "fra ", "hos ",
    ];
    if let Some((first, rest)) = part.split_once(' ').filter(|(first, _)| LISTS.menu.occur_in(first)) {
        let is_word = first.chars().all(char::is_alphabetic);
        let rest = rest.trim_start();
        let link =
            links.iter().find(|link| rest.get(..link.len()).is_some_and(|start| start.eq_ignore_ascii_case(link)));
        // "zum" and "la" begin names as well.
        let keeps = link.is_some_and(|link| matches!(*link, "zum " | "la "));
        part = link
            .filter(|_| is_word && !keeps)
            .map_or(if is_word { rest } else { part }, |link| rest[link.len()..].trim_start());
    }
    match part.rsplit_once(' ') {
        Some((rest, last)) if LISTS.menu.occur_in(last) => rest.trim_end(),
        _ => part,
    }
}

/// Returns the type of place that a name tells.
pub(super) fn kind_of(name: &str) -> Option<&'static str> {
    static KINDS: [(&str, &[&str]); 6] = [
        (
            "cafe",
            &["café", "cafe", "coffee", "kaffee", "kaffeehaus", "caffè", "caffe", "cafeteria", "eiscafé", "カフェ"],
        ),
        ("bakery", &["bakery", "bäckerei", "boulangerie", "patisserie", "pâtisserie", "konditorei"]),
        ("bar", &["bar", "pub", "taproom", "cocktailbar", "weinbar", "tavern", "居酒屋"]),
        ("brewery", &["brewery", "brauhaus", "brauerei"]),
        ("ice cream shop", &["gelateria", "eisdiele"]),
        (
            "restaurant",
            &[
                "restaurant",
                "ristorante",
                "trattoria",
                "osteria",
                "pizzeria",
                "bistro",
                "diner",
                "brasserie",
                "gasthaus",
                "gasthof",
                "wirtshaus",
                "taverna",
                "steakhouse",
                "grill",
                "レストラン",
                "食堂",
            ],
        ),
    ];
    let lower = name.to_lowercase();
    let has = |word: &&str| {
        if word.is_ascii() || word.chars().all(|c| c < '\u{2e80}') {
            tokens(&lower).any(|token| token == *word)
        } else {
            lower.contains(*word)
        }
    };
    // "Restaurant & Bar" is a restaurant.
    KINDS.iter().rev().find(|(_, words)| words.iter().any(has)).map(|(kind, _)| *kind)
}

/// The address of a page's only `<address>`.
fn address(page: &Page) -> Option<Json> {
    let mut found = page.positions().filter(|&at| page.name(at).is_some_and(|name| &**name == "address"));
    let first = found.next().filter(|_| found.next().is_none())?;
    let text = crate::tags::text(page, first);
    (5..300).contains(&text.len()).then(|| serde_json::json!({ "formatted": text }))
}
