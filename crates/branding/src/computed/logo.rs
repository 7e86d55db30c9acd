//! The choice of the logo among the pictures of a sample.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use crate::sample::{Logo, Sample};

/// Limit on a URL, or on an inline SVG that is returned as a `data:` URL, in bytes.
const MAX_ADDRESS: usize = 16 * 1024;
/// Least score of a logo.
const MIN_SCORE: f64 = 4.0;

/// Returns the URL of the picture that is most probably the logo: `http`, `https`, or a `data:` URL. The first of
/// several with the highest score wins.
pub(crate) fn logo(sample: &Sample, brand_name: Option<&str>) -> Option<String> {
    let mut best: Option<(f64, String)> = None;
    for candidate in sample.logos.iter() {
        let score = score(candidate, brand_name);
        if score < MIN_SCORE || best.as_ref().is_some_and(|(most, _)| *most >= score) {
            continue;
        }
        if let Some(address) = address(candidate) {
            best = Some((score, address));
        }
    }
    best.map(|(_, address)| address)
}

/// Scores a candidate by heuristics: a name, the page header, a link to the home page and the top left corner speak for
/// a logo. A named picture (4) passes [`MIN_SCORE`] alone; a link to another site cancels that.
fn score(logo: &Logo, brand_name: Option<&str>) -> f64 {
    let (width, height) = (logo.place.width.get(), logo.place.height.get());
    // Smaller ones are bullets and pixels for counting; four screens down there are logos of partners.
    if width < 10.0 || height < 8.0 || logo.place.y.get() > 4_000.0 {
        return 0.0;
    }
    let mut score = 0.0;
    score += if logo.hint { 4.0 } else { 0.0 };
    score += if logo.top { 2.0 } else { 0.0 };
    score += match &*logo.leads {
        "home" => 3.0,
        "away" => -4.0,
        _ => 0.0,
    };
    score += if logo.place.y.get() < 150.0 && logo.place.x.get() < 500.0 { 1.5 } else { 0.0 };
    // Larger pictures are photographs; narrower ones are icons of a menu.
    score += if height <= 160.0 && width <= 500.0 { 1.0 } else { -2.0 };
    score -= if width < 18.0 { 2.0 } else { 0.0 };
    let text = logo.text.to_lowercase();
    let names_brand = brand_name.is_some_and(|name| !name.is_empty() && text.contains(&name.to_lowercase()));
    score += if names_brand { 2.0 } else { 0.0 };
    // Icons of controls and of other sites stand in the same corner of the page.
    let is_control =
        ["search", "menu", "close", "toggle", "theme", "github", "twitter"].iter().any(|word| text.contains(word));
    score - if is_control { 4.0 } else { 0.0 }
}

fn address(logo: &Logo) -> Option<String> {
    if !logo.svg.is_empty() {
        let fits = logo.svg.len() <= MAX_ADDRESS && logo.svg.starts_with("<svg");
        return fits.then(|| format!("data:image/svg+xml;base64,{}", STANDARD.encode(logo.svg.as_bytes())));
    }
    if logo.url.len() > MAX_ADDRESS {
        return None;
    }
    let url = Url::parse(&logo.url).ok()?;
    let is_picture = matches!(url.scheme(), "http" | "https") || logo.url.starts_with("data:image/");
    is_picture.then(|| url.into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(logos: &Value, expect: Option<&str>) {
        let sample: Sample = serde_json::from_value(json!({ "logos": logos })).unwrap();
        assert_eq!(logo(&sample, Some("Acme")).as_deref(), expect, "{logos}");
    }

    #[test]
    fn the_picture_that_leads_home() {
        let small = json!({ "x": 20, "y": 10, "width": 120, "height": 30 });
        let home = json!({ "url": "https://a.test/l.png", "box": small, "top": true, "leads": "home" });
        let icon = json!({ "url": "https://a.test/i.png", "box": small, "top": true, "leads": "away", "hint": true, "text": "GitHub" });
        let named = json!({ "url": "https://a.test/n.png", "box": { "y": 900, "width": 100, "height": 30 }, "hint": true, "leads": "site" });
        check(&json!([icon, home, named]), Some("https://a.test/l.png"));
        check(&json!([icon, named]), Some("https://a.test/n.png"));
        check(&json!([icon]), None);
        check(&json!([]), None);
    }

    #[test]
    fn addresses() {
        let place = json!({ "x": 20, "y": 10, "width": 120, "height": 30 });
        let with = |key: &str, value: &str| json!([{ "hint": true, "top": true, "box": place, key: value }]);
        check(&with("svg", "<svg/>"), Some("data:image/svg+xml;base64,PHN2Zy8+"));
        check(&with("svg", "<script/>"), None);
        check(&with("url", "javascript:alert(1)"), None);
        check(&with("url", "data:text/html,x"), None);
        check(&with("url", "data:image/png;base64,AA"), Some("data:image/png;base64,AA"));
        check(&with("url", &format!("https://a.test/{}", "x".repeat(MAX_ADDRESS))), None);
    }
}
