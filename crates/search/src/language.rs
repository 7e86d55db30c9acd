//! Codes of languages and countries, as each engine knows them. An engine refuses a whole query for a code that it does not
//! know, so such a code is left out.

use crate::query::EngineQuery;

/// Languages of the Brave Search API whose code is the ordinary one.
const BRAVE: &str = "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro \
    ru sk sl sr sv ta te th tr uk vi";
/// Countries of the Brave Search API.
const BRAVE_COUNTRIES: &str = "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA \
    SE TR TW US ZA";
/// Languages that Google restricts results to, besides Chinese.
const GOOGLE: &str =
    "ar bg ca cs da de el en es et fi fr hr hu id is it iw ja ko lt lv nl no pl pt ro ru sk sl sr sv tr";

/// A locale code, such as `de-CH` or `zh-Hant`, taken apart.
struct Locale {
    /// Language in lower case.
    language: String,
    /// Country in upper case.
    region: Option<String>,
    /// Whether the code names the traditional script of Chinese, or a place that uses it.
    is_traditional: bool,
}

impl Locale {
    /// Reads a locale code; `None` for one without a language, such as `*`.
    fn read(code: &str) -> Option<Self> {
        let mut parts = code.split('-');
        let language = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_letters = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !(2..=3).contains(&language.len()) || !is_letters(&language) {
            return None;
        }
        let others: Vec<String> = parts.map(str::to_ascii_uppercase).collect();
        let region = others.iter().find(|part| part.len() == 2 && is_letters(part)).cloned();
        let is_traditional = others.iter().any(|part| matches!(part.as_str(), "HANT" | "TW" | "HK" | "MO"));
        Some(Self { language, region, is_traditional })
    }

    /// Returns one of two words for Chinese: simplified or traditional.
    fn chinese(&self, simplified: &str, traditional: &str) -> String {
        if self.is_traditional { traditional.to_owned() } else { simplified.to_owned() }
    }
}

fn locale(query: &EngineQuery<'_>) -> Option<Locale> {
    Locale::read(query.language?)
}

/// Returns the code for `SearXNG`: a language, and its region or else the country of the request.
pub(crate) fn for_searxng(query: &EngineQuery<'_>) -> Option<String> {
    let Locale { language, region, .. } = locale(query)?;
    let region = region.or_else(|| query.country.map(str::to_owned));
    Some(region.map_or(language.clone(), |region| format!("{language}-{region}")))
}

/// Returns the language for the Brave Search API.
pub(crate) fn for_brave(query: &EngineQuery<'_>) -> Option<String> {
    let locale = locale(query)?;
    let is_british = locale.region.as_deref() == Some("GB");
    Some(match locale.language.as_str() {
        "zh" => locale.chinese("zh-hans", "zh-hant"),
        "ja" => "jp".to_owned(),
        "pt" if locale.region.as_deref() == Some("PT") => "pt-pt".to_owned(),
        "pt" => "pt-br".to_owned(),
        "en" if is_british => "en-gb".to_owned(),
        "no" | "nn" => "nb".to_owned(),
        known if lists(BRAVE, known) => known.to_owned(),
        _ => return None,
    })
}

/// Returns the country for the Brave Search API; all countries for one that it does not know.
pub(crate) fn country_for_brave(country: &str) -> String {
    if lists(BRAVE_COUNTRIES, country) { country.to_owned() } else { "ALL".to_owned() }
}

/// Returns the restriction of language for Google: `lang_de`.
pub(crate) fn for_google(query: &EngineQuery<'_>) -> Option<String> {
    let locale = locale(query)?;
    let code = match locale.language.as_str() {
        "zh" => locale.chinese("zh-CN", "zh-TW"),
        "he" => "iw".to_owned(),
        "nb" | "nn" => "no".to_owned(),
        known if lists(GOOGLE, known) => known.to_owned(),
        _ => return None,
    };
    Some(format!("lang_{code}"))
}

/// Returns the language of the results page for Serper.
pub(crate) fn for_serper(query: &EngineQuery<'_>) -> Option<String> {
    let locale = locale(query)?;
    Some(match locale.language.as_str() {
        "zh" => locale.chinese("zh-cn", "zh-tw"),
        other => other.to_owned(),
    })
}

fn lists(codes: &str, code: &str) -> bool {
    codes.split(' ').any(|one| one == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::Words;

    #[test]
    fn codes_of_each_engine() {
        let words = Words::default();
        for (code, searxng, brave, google) in [
            ("de", Some("de-US"), Some("de"), Some("lang_de")),
            ("de-CH", Some("de-CH"), Some("de"), Some("lang_de")),
            ("EN-gb", Some("en-GB"), Some("en-gb"), Some("lang_en")),
            ("zh-Hant", Some("zh-US"), Some("zh-hant"), Some("lang_zh-TW")),
            ("zh-Hans-CN", Some("zh-CN"), Some("zh-hans"), Some("lang_zh-CN")),
            ("ja", Some("ja-US"), Some("jp"), Some("lang_ja")),
            ("pt", Some("pt-US"), Some("pt-br"), Some("lang_pt")),
            ("he-IL", Some("he-IL"), Some("he"), Some("lang_iw")),
            ("sw", Some("sw-US"), None, None),
            ("*", None, None, None),
            ("x-private", None, None, None),
        ] {
            let query = EngineQuery { language: Some(code), country: Some("US"), ..crate::tests::query(&words) };
            let found = [for_searxng(&query), for_brave(&query), for_google(&query)];
            assert_eq!(found.each_ref().map(Option::as_deref), [searxng, brave, google], "{code}");
        }
        assert_eq!((country_for_brave("DE"), country_for_brave("IE")), ("DE".to_owned(), "ALL".to_owned()));
    }
}
