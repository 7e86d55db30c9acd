//! Last phase: what is known about the page besides its content, warnings, and nothing that could harm a log or terminal.

use fetch::Fetched;
use serde_json::{Map, Value};
use wire::Document;

/// Completes the document; gives it with all warnings.
pub(crate) fn finish(
    mut document: Document,
    mut warnings: Vec<String>,
    fetched: &Fetched,
    source: String,
) -> (Document, Vec<String>) {
    warnings.splice(0..0, fetched.warnings.iter().cloned());
    let metadata = &mut document.metadata;
    metadata.page =
        std::mem::take(&mut metadata.page).into_iter().map(|(key, value)| (clean(&key), cleaned(value))).collect();
    metadata.url = fetched.url.to_string();
    metadata.source_url = source;
    metadata.status_code = fetched.status;
    metadata.content_type = fetched.content_type.as_deref().map(clean);
    metadata.error = (!fetched.is_loaded()).then(|| reason(fetched));
    metadata.proxy_used = Some(fetched.proxy);
    document.warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    (document, warnings)
}

fn reason(fetched: &Fetched) -> String {
    fetched.reason().map_or_else(|| format!("HTTP status {}", fetched.status), str::to_owned)
}

fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(values) => values.into_iter().map(cleaned).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (clean(&key), cleaned(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// Without control characters and without those that change the direction of the text around them. Metadata ends up in
/// log lines, file names and terminals; line breaks and tabs become blanks.
fn clean(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| if matches!(c, '\t' | '\n' | '\r') { ' ' } else { c })
        .filter(|c| !c.is_control() && !turns(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use url::Url;

    use super::*;

    fn fetched(status: u16) -> Fetched {
        let url = Url::parse("http://a.test/final").unwrap();
        Fetched::new(url, status, Some("text/html".to_owned()), "x".into())
    }

    #[test]
    fn the_page_is_described() {
        let source = || "http://a.test".to_owned();
        let mut page = fetched(404);
        page.warnings.push("one".to_owned());
        let (document, _) = finish(Document::default(), vec!["two".to_owned()], &page, source());
        let metadata = &document.metadata;
        assert_eq!((metadata.url.as_str(), metadata.source_url.as_str()), ("http://a.test/final", "http://a.test"));
        assert_eq!((metadata.status_code, metadata.error.as_deref()), (404, Some("Not Found")));
        assert_eq!(document.warning.as_deref(), Some("one; two"));
        let fine = finish(Document::default(), Vec::new(), &fetched(200), source()).0;
        assert_eq!((fine.metadata.error, fine.warning), (None, None));
        let odd = finish(Document::default(), Vec::new(), &fetched(799), source()).0;
        assert_eq!(odd.metadata.error.as_deref(), Some("HTTP status 799"));
    }

    #[test]
    fn metadata_holds_no_control_characters() {
        let check = |text: &str, expect: &str| assert_eq!(clean(text), expect);
        check("a\0b\u{202e}c\u{1b}[31md", "abc[31md");
        check("x\r\nSet-Cookie: a=b", "x  Set-Cookie: a=b");
        check("\u{85}\u{7f}ok \u{200f}عربي", "ok \u{200f}عربي");
        assert_eq!(cleaned(json!({"a\0": ["b\u{7}", 1]})), json!({"a": ["b", 1]}));
    }
}
