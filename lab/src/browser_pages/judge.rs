//! Checks of an answer: texts, URL and screenshot of the page.

use super::book::Page;
use super::picture;
use serde_json::Value;

/// Returns the text of markdown without its markup, with single spaces.
pub(crate) fn folded(markdown: &str) -> String {
    let mut plain = String::with_capacity(markdown.len());
    for line in markdown.lines() {
        let line = line.trim_start().trim_start_matches(['#', '>']).trim_start();
        let line = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        plain.push_str(&without_marks(line));
        plain.push(' ');
    }
    let visible = plain.chars().filter(|letter| !matches!(letter, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{ad}'));
    visible.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a line without emphasis, code and table marks, escapes and link targets.
fn without_marks(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => out.extend(rest.next()),
            '*' | '`' | '[' => {}
            '|' => out.push(' '),
            ']' => {
                if rest.as_str().starts_with('(') {
                    let mut depth = 0;
                    // The end of the target, or of the line.
                    let _ = rest.find(|letter| {
                        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
                        depth == 0
                    });
                }
            }
            _ => out.push(letter),
        }
    }
    out
}

/// Returns the text of HTML without tags, comments and scripts, for searching.
pub(crate) fn text_of_html(html: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(html.len() / 2), html);
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let closed_by = match rest.get(1..7).unwrap_or_default().to_ascii_lowercase().as_str() {
            comment if comment.starts_with("!--") => "-->",
            "script" => "</script>",
            style if style.starts_with("style") => "</style>",
            // Block tags separate words; React writes comments and spans within a word.
            _ => ">",
        };
        let inline = closed_by == "-->"
            || ["<span", "</span", "<em", "</em", "<b>", "</b>", "<wbr"].iter().any(|tag| rest.starts_with(tag));
        let end = rest.find(closed_by).map_or(rest.len(), |end| end + closed_by.len());
        rest = &rest[end..];
        if !inline {
            out.push(' ');
        }
    }
    out.push_str(rest);
    let entities = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text = entities.iter().fold(out, |text, (name, letter)| text.replace(name, letter));
    text.replace('\u{200b}', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the failures of the expected and forbidden texts.
pub(crate) fn texts(page: &Page, text: &str) -> Vec<String> {
    let missing = page.seen.iter().filter(|seen| !text.contains(*seen)).map(|seen| format!("no {seen:?}"));
    let odd = page.not_seen.iter().filter(|odd| text.contains(*odd)).map(|odd| format!("holds {odd:?}"));
    let often = page.at_most_once.iter().filter(|once| text.matches(once.as_str()).count() > 1);
    missing.chain(odd).chain(often.map(|once| format!("holds {once:?} more than once"))).collect()
}

/// Returns the failures of an answer with markdown.
pub(crate) fn markdown(page: &Page, status: u16, answer: &Value) -> Vec<String> {
    let Some(markdown) = answer["data"]["markdown"].as_str() else {
        return vec![refused(status, answer)];
    };
    let mut failures = texts(page, &folded(markdown));
    let url = answer["data"]["metadata"]["url"].as_str().unwrap_or_default();
    if let Some(end) = page.url_ends.as_ref().filter(|end| !url.ends_with(*end)) {
        failures.push(format!("metadata.url is {url}, not …{end}"));
    }
    failures
}

/// Returns the failures of an answer with all other formats; `picture` is its screenshot file.
pub(crate) fn formats(page: &Page, status: u16, answer: &Value, picture: Option<&[u8]>) -> Vec<String> {
    let data = &answer["data"];
    let Some(html) = data["rawHtml"].as_str() else {
        return vec![refused(status, answer)];
    };
    let text = text_of_html(html);
    let missing = page.seen.iter().filter(|seen| !text.contains(*seen)).map(|seen| format!("rawHtml: no {seen:?}"));
    let mut failures: Vec<String> = missing.collect();
    for list in ["links", "images"] {
        if !data[list].is_array() {
            failures.push(format!("no {list}"));
        }
    }
    match picture.map(picture::decode_png) {
        None => failures.push("no screenshot".to_owned()),
        Some(Err(error)) => failures.push(format!("the screenshot cannot be decoded: {error}")),
        Some(Ok(picture)) if picture.height < 600 => {
            failures.push(format!("the screenshot is {} px high", picture.height))
        }
        Some(Ok(picture)) if !picture.colourful => failures.push("the screenshot has one colour".to_owned()),
        Some(Ok(_)) => {}
    }
    failures
}

/// Formats an error answer on one line.
pub(crate) fn refused(status: u16, answer: &Value) -> String {
    let text: String = answer["error"].as_str().unwrap_or("no page").chars().take(160).collect();
    format!("{status} {}: {text}", answer["code"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_markdown_do_not_count() {
        let check = |markdown: &str, expect: &str| assert_eq!(folded(markdown), expect, "{markdown}");
        check("# Orchard  inventory\n\n- **Bramley** 412 crates", "Orchard inventory Bramley 412 crates");
        check("1\\. Zelkova\n2\\. Alder", "1. Zelkova 2. Alder");
        check("1. Zelkova\n2. Alder", "1. Zelkova 2. Alder");
        check("[Plan 0](http://x/(a)b) next", "Plan 0 next");
        check("| `GET` | /sluices/\u{200b}\\{id\\} |", "GET /sluices/{id}");
        check("{{ title }} v-if=", "{{ title }} v-if=");
        check("let load_59 = weigh(truck\\[59\\])", "let load_59 = weigh(truck[59])");
    }

    #[test]
    fn html_is_read_without_tags() {
        let check = |html: &str, expect: &str| assert_eq!(text_of_html(html), expect, "{html}");
        check("<li>Bramley<!-- --> <!-- -->412<script>var a = '<p>'</script></li><p>x", "Bramley 412 x");
        check("<h1>Recipe with <!-- -->14<!-- --> oxides</h1>", "Recipe with 14 oxides");
        check("a<span>b</span>c &amp;&nbsp;d<style>p{}</style>", "abc & d");
    }

    #[test]
    fn texts_are_looked_for() {
        let book = super::super::book::read_book().unwrap();
        let page = book.pages.iter().find(|page| page.id == "katex-mermaid").unwrap();
        let fine = "Figure 1: flow of the sluice Upper pond E = mc^2";
        assert!(texts(page, fine).is_empty());
        assert_eq!(texts(page, &format!("{fine} E = mc^2 graph TD")).len(), 2);
        assert_eq!(texts(page, "").len(), 2);
    }
}
