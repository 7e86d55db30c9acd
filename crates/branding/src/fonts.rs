//! Font families, and the choice of a site's own font in a stack.

/// Names of the system font.
const SYSTEM: [&str; 3] = ["system-ui", "-apple-system", "BlinkMacSystemFont"];
/// Names of common serif fonts.
const SERIFS: [&str; 12] = [
    "serif",
    "ui-serif",
    "georgia",
    "times",
    "times new roman",
    "cambria",
    "garamond",
    "palatino",
    "merriweather",
    "lora",
    "playfair display",
    "source serif pro",
];

/// Returns the family that a font stack means: the first one that was `loaded` as a web font, else the first real name.
/// The system font is returned as `system-ui` for all of its names.
pub(crate) fn chosen(families: &[String], loaded: impl Fn(&str) -> bool) -> Option<String> {
    let mut real = families.iter().filter(|family| family.chars().any(char::is_alphanumeric));
    let first = families.iter().find(|family| loaded(family)).or_else(|| real.next())?;
    let is_system = SYSTEM.iter().any(|name| first.eq_ignore_ascii_case(name));
    Some(if is_system { "system-ui".to_owned() } else { first.clone() })
}

/// Whether a font stack is one of serif fonts.
pub(crate) fn is_serif(families: &[String]) -> bool {
    let lower = |family: &String| family.to_ascii_lowercase();
    let ends_in_sans = families.last().is_some_and(|last| lower(last).contains("sans"));
    let has_serif = families
        .iter()
        .map(lower)
        .any(|name| SERIFS.contains(&name.as_str()) || (name.contains("serif") && !name.contains("sans")));
    has_serif && !ends_in_sans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_that_is_meant() {
        let check = |families: &[&str], loaded: &[&str], expect: Option<&str>| {
            let families: Vec<String> = families.iter().map(|name| (*name).to_owned()).collect();
            let found = chosen(&families, |family| loaded.contains(&family));
            assert_eq!(found.as_deref(), expect, "{families:?}");
        };
        check(&["system-ui", "Inter", "sans-serif"], &["Inter"], Some("Inter"));
        check(&["-apple-system", "BlinkMacSystemFont", "Segoe UI", "Roboto"], &[], Some("system-ui"));
        check(&["_", "Segoe UI", "sans-serif"], &[], Some("Segoe UI"));
        check(&["Arial", "Inter"], &["Inter"], Some("Inter"));
        check(&["system-ui", "sans-serif"], &[], Some("system-ui"));
        check(&[], &[], None);
    }

    #[test]
    fn serifs() {
        let check = |families: &[&str], expect: bool| {
            let families: Vec<String> = families.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(is_serif(&families), expect, "{families:?}");
        };
        check(&["Source Serif 4", "serif"], true);
        check(&["Georgia", "serif"], true);
        check(&["Inter", "sans-serif"], false);
        check(&["Inter", "Georgia", "sans-serif"], false);
        check(&["PT Sans Serif"], false);
    }
}
