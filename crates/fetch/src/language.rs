//! `Accept-Language` for a country, as a browser bought there would send it.

use std::fmt::Write;

/// Languages by country, most used first. Countries with several official languages list them all.
/// Tags are BCP 47; the list follows CLDR's "territory-language information" for the most requested countries.
const COUNTRIES: [(&str, &str); 88] = [
    ("AE", "ar-AE"),
    ("AL", "sq-AL"),
    ("AM", "hy-AM"),
    ("AR", "es-AR"),
    ("AT", "de-AT"),
    ("AU", "en-AU"),
    ("AZ", "az-AZ"),
    ("BA", "bs-BA"),
    ("BD", "bn-BD"),
    ("BE", "nl-BE fr-BE de-BE"),
    ("BG", "bg-BG"),
    ("BO", "es-BO"),
    ("BR", "pt-BR"),
    ("BY", "be-BY ru-BY"),
    ("CA", "en-CA fr-CA"),
    ("CH", "de-CH fr-CH it-CH"),
    ("CL", "es-CL"),
    ("CN", "zh-CN"),
    ("CO", "es-CO"),
    ("CR", "es-CR"),
    ("CY", "el-CY tr-CY"),
    ("CZ", "cs-CZ"),
    ("DE", "de-DE"),
    ("DK", "da-DK"),
    ("DO", "es-DO"),
    ("DZ", "ar-DZ fr-DZ"),
    ("EC", "es-EC"),
    ("EE", "et-EE"),
    ("EG", "ar-EG"),
    ("ES", "es-ES ca-ES"),
    ("FI", "fi-FI sv-FI"),
    ("FR", "fr-FR"),
    ("GB", "en-GB"),
    ("GE", "ka-GE"),
    ("GR", "el-GR"),
    ("GT", "es-GT"),
    ("HK", "zh-HK en-HK"),
    ("HR", "hr-HR"),
    ("HU", "hu-HU"),
    ("ID", "id-ID"),
    ("IE", "en-IE"),
    ("IL", "he-IL ar-IL"),
    ("IN", "en-IN hi-IN"),
    ("IQ", "ar-IQ"),
    ("IR", "fa-IR"),
    ("IS", "is-IS"),
    ("IT", "it-IT"),
    ("JO", "ar-JO"),
    ("JP", "ja-JP"),
    ("KE", "en-KE sw-KE"),
    ("KR", "ko-KR"),
    ("KZ", "kk-KZ ru-KZ"),
    ("LB", "ar-LB fr-LB"),
    ("LK", "si-LK ta-LK"),
    ("LT", "lt-LT"),
    ("LU", "fr-LU de-LU lb-LU"),
    ("LV", "lv-LV"),
    ("MA", "ar-MA fr-MA"),
    ("MD", "ro-MD"),
    ("MK", "mk-MK"),
    ("MT", "mt-MT en-MT"),
    ("MX", "es-MX"),
    ("MY", "ms-MY en-MY"),
    ("NG", "en-NG"),
    ("NL", "nl-NL"),
    ("NO", "nb-NO"),
    ("NZ", "en-NZ"),
    ("PE", "es-PE"),
    ("PH", "en-PH fil-PH"),
    ("PK", "ur-PK en-PK"),
    ("PL", "pl-PL"),
    ("PT", "pt-PT"),
    ("PY", "es-PY"),
    ("QA", "ar-QA"),
    ("RO", "ro-RO"),
    ("RS", "sr-RS"),
    ("RU", "ru-RU"),
    ("SA", "ar-SA"),
    ("SE", "sv-SE"),
    ("SG", "en-SG zh-SG"),
    ("SI", "sl-SI"),
    ("SK", "sk-SK"),
    ("TH", "th-TH"),
    ("TR", "tr-TR"),
    ("TW", "zh-TW"),
    ("UA", "uk-UA"),
    ("VN", "vi-VN"),
    ("ZA", "en-ZA"),
];

/// Returns the value of `Accept-Language` (RFC 9110 section 12.5.4).
///
/// `languages` override `country` and keep their order. A regional language adds its base language, as in browsers.
/// The languages of a country are followed by English, so that a site without them does not answer in a random one.
/// Unknown countries, and no country, mean American English.
pub(crate) fn accept(country: Option<&str>, languages: &[String]) -> String {
    let asked: Vec<&str> = languages.iter().map(|language| language.trim()).filter(|tag| is_tag(tag)).collect();
    if !asked.is_empty() {
        return weighted(&asked);
    }
    let listed = |country: &str| {
        let at = COUNTRIES.binary_search_by(|(code, _)| (*code).cmp(country)).ok()?;
        Some(COUNTRIES[at].1)
    };
    let spoken = country.and_then(listed).unwrap_or_default();
    let mut tags: Vec<&str> = spoken.split_whitespace().collect();
    if !tags.iter().any(|tag| tag.starts_with("en-")) {
        tags.push("en-US");
    }
    weighted(&tags)
}

/// Whether this is a language tag: letters, digits and hyphens, or `*`. Anything else could inject header text.
fn is_tag(tag: &str) -> bool {
    tag == "*" || (tag.len() <= 35 && !tag.is_empty() && tag.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-'))
}

/// Lists each tag once, followed by its base language after the last tag that shares it, with weights from 1 to 0.1.
fn weighted(tags: &[&str]) -> String {
    let base = |tag: &str| tag.split('-').next().unwrap_or_default().to_owned();
    let mut ordered: Vec<String> = Vec::new();
    for (at, tag) in tags.iter().enumerate() {
        let last_of_base = !tags[at + 1..].iter().any(|later| base(later).eq_ignore_ascii_case(&base(tag)));
        for candidate in [Some((*tag).to_owned()), last_of_base.then(|| base(tag))].into_iter().flatten() {
            if !ordered.iter().any(|known| known.eq_ignore_ascii_case(&candidate)) {
                ordered.push(candidate);
            }
        }
    }
    let mut value = String::new();
    for (at, tag) in ordered.iter().take(20).enumerate() {
        let weight = 10usize.saturating_sub(at).max(1);
        let separator = if at == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = match weight {
            10 => write!(value, "{separator}{tag}"),
            _ => write!(value, "{separator}{tag};q=0.{weight}"),
        };
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_well_formed() {
        assert!(COUNTRIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (country, tags) in COUNTRIES {
            assert!(tags.split(' ').all(|tag| is_tag(tag) && tag.ends_with(country)), "{country}");
        }
    }

    #[test]
    fn by_country() {
        let check = |country: &str, expect: &str| assert_eq!(accept(Some(country), &[]), expect, "{country}");
        check("US", "en-US,en;q=0.9");
        check("GB", "en-GB,en;q=0.9");
        check("DE", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7");
        check("CH", "de-CH,de;q=0.9,fr-CH;q=0.8,fr;q=0.7,it-CH;q=0.6,it;q=0.5,en-US;q=0.4,en;q=0.3");
        check("ZZ", "en-US,en;q=0.9");
        assert_eq!(accept(None, &[]), "en-US,en;q=0.9");
    }

    #[test]
    fn by_languages() {
        let check = |languages: &[&str], expect: &str| {
            let languages: Vec<String> = languages.iter().map(ToString::to_string).collect();
            assert_eq!(accept(Some("DE"), &languages), expect, "{languages:?}");
        };
        check(&["fr"], "fr");
        check(&["fr-CA", "en"], "fr-CA,fr;q=0.9,en;q=0.8");
        check(&["en-GB", "en-US", "en"], "en-GB,en-US;q=0.9,en;q=0.8");
        check(&["fr", "FR", " fr "], "fr");
        check(&["fr\r\nX: y"], "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7");
        check(&["*"], "*");
    }

    #[test]
    fn weights_never_reach_zero() {
        let many: Vec<String> = (b'a'..=b'z').map(|c| (c as char).to_string()).collect();
        let value = accept(None, &many);
        assert!(value.contains("b;q=0.9") && value.ends_with("t;q=0.1"), "{value}");
    }
}
