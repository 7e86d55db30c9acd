//! The currency of a page whose prices have a sign with several meanings.

use memchr::memmem;

use crate::money::currency_of;
use crate::survey::Survey;

/// Names of members and attributes that hold a currency in the scripts of shops.
const NAMES: [&str; 4] = ["priceCurrency", "currencyCode", "currency_code", "currency"];
/// Limit on the occurrences that are examined.
const MAX_LOOKS: usize = 200;

/// Returns the only currency that the page names by its code; `None` if it names several.
pub(super) fn of_page(survey: &Survey<'_>) -> Option<&'static str> {
    let mut only: Option<&'static str> = None;
    for &script in &survey.scripts {
        let Some(text) = survey.page.subtree(script).find_map(|node| survey.page.text(node)) else { continue };
        for code in NAMES.iter().flat_map(|name| codes_after(text, name)) {
            match only {
                Some(known) if known != code => return None,
                _ => only = Some(code),
            }
        }
    }
    only
}

fn codes_after<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'static str> + 't {
    let places = memmem::find_iter(text.as_bytes(), name.as_bytes()).take(MAX_LOOKS);
    places.filter_map(|place| {
        let rest = text.get(place + name.len()..)?;
        let value = rest.trim_start_matches(['"', '\'', '\\', ':', '=', ' ']);
        let is_apart = rest.len() - value.len() >= 2 && !value.get(3..)?.starts_with(char::is_alphanumeric);
        let code = value.get(..3).filter(|code| is_apart && code.bytes().all(|b| b.is_ascii_uppercase()));
        code.and_then(currency_of)
    })
}
