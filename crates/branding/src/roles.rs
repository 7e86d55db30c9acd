//! Colour roles by the names of custom properties: `--primary`, `--bs-link-color`, `--colorBrandBackground`.

use crate::color::Color;

/// Role of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Primary,
    Secondary,
    Accent,
    Background,
    Text,
    MutedText,
    Link,
    Success,
    Warning,
    Error,
}

impl Role {
    /// Words that name the role; a name must have one of them.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Primary => &["primary", "brand"],
            Self::Secondary => &["secondary"],
            Self::Accent => &["accent", "tertiary"],
            Self::Background => &["background", "bg"],
            Self::Text | Self::MutedText => &["text", "foreground", "fg"],
            Self::Link => &["link", "anchor"],
            Self::Success => &["success"],
            Self::Warning => &["warning", "caution"],
            Self::Error => &["error", "danger"],
        }
    }

    /// Other words that a name for the role may have.
    fn others(self) -> &'static [&'static str] {
        match self {
            Self::Primary => &["fg", "main"],
            Self::Background => &["body", "page", "site", "canvas", "main", "primary"],
            Self::Text => &["body", "page", "main", "primary"],
            Self::MutedText => &["muted", "secondary", "subtle", "light", "lighter", "gray", "grey", "soft"],
            Self::Link => &["text", "fg", "primary"],
            Self::Error => &["destructive"],
            _ => &[],
        }
    }
}

/// Words that do not change the meaning of a name.
const NEUTRAL: [&str; 9] = ["color", "colour", "colors", "clr", "c", "base", "default", "theme", "main"];

/// Returns the colour of a role among `variables` (names with their two hyphens): the one with the plainest name.
pub(crate) fn named<'v>(role: Role, variables: impl Iterator<Item = (&'v str, Color)>) -> Option<Color> {
    let ranked = variables.filter_map(|(name, color)| Some((rank(role, name)?, name.len(), color)));
    ranked.min_by_key(|&(rank, length, _)| (rank, length)).map(|(.., color)| color)
}

/// Returns how far a name is from the plain word of a role (0 is best); `None` if it names something else.
fn rank(role: Role, name: &str) -> Option<usize> {
    let words = words(name);
    let has = |word: &String, list: &[&str]| list.contains(&word.as_str());
    if !words.iter().any(|word| has(word, role.keys())) {
        return None;
    }
    let muted = words.iter().any(|word| has(word, Role::MutedText.others()));
    if (role == Role::MutedText) != muted && matches!(role, Role::MutedText | Role::Text) {
        return None;
    }
    let mut rank = 0;
    for (place, word) in words.iter().enumerate() {
        let is_own = has(word, role.keys());
        rank += match () {
            () if is_own => 0,
            () if has(word, &NEUTRAL) => 1,
            () if has(word, role.others()) => 2,
            // The middle of a scale of shades: `--brand-500`, `--brand-1`.
            () if place > 0 && matches!(word.as_str(), "1" | "500") => 6,
            // Every framework has its own prefix.
            () if place == 0 && is_prefix(word) => 3,
            () => return None,
        };
    }
    Some(rank)
}

fn is_prefix(word: &str) -> bool {
    let is_part = matches!(word, "on" | "nav" | "btn" | "tab" | "top" | "alt");
    word.len() <= 3 && !is_part && word.chars().all(char::is_alphabetic)
}

/// Splits a name at hyphens, underscores and capitals, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut starts = true;
    for c in name.chars().take(64) {
        if !c.is_alphanumeric() {
            starts = true;
            continue;
        }
        if starts || c.is_uppercase() {
            found.push(String::new());
        }
        starts = false;
        if let Some(word) = found.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_win() {
        let check = |role: Role, names: &[&str], expect: Option<&str>| {
            let colors: Vec<Color> =
                (1..=names.len()).map(|n| Color::parse(&format!("rgb({n} 0 0)")).unwrap()).collect();
            let found = named(role, names.iter().copied().zip(colors.iter().copied()));
            let place = found.and_then(|color| colors.iter().position(|other| *other == color));
            assert_eq!(place.map(|place| names[place]), expect, "{role:?} {names:?}");
        };
        check(Role::Primary, &["--primary-hover", "--bs-primary", "--primary"], Some("--primary"));
        check(
            Role::Primary,
            &["--bs-primary-rgb", "--ifm-color-primary", "--ifm-color-primary-dark"],
            Some("--ifm-color-primary"),
        );
        check(Role::Primary, &["--md-primary-fg-color", "--md-primary-fg-color--light"], Some("--md-primary-fg-color"));
        check(Role::Primary, &["--brandColor", "--text-primary"], Some("--brandColor"));
        check(Role::Primary, &["--vp-c-brand-2", "--primary-900", "--on-primary"], None);
        check(Role::Primary, &["--vp-c-brand-2", "--vp-c-brand-1", "--vp-c-brand-3"], Some("--vp-c-brand-1"));
        check(Role::Background, &["--bs-body-bg", "--card-background"], Some("--bs-body-bg"));
        check(Role::Text, &["--text-muted", "--bs-body-color", "--foreground"], Some("--foreground"));
        check(Role::MutedText, &["--text", "--text-muted"], Some("--text-muted"));
        check(Role::Link, &["--bs-link-hover-color", "--bs-link-color"], Some("--bs-link-color"));
        check(Role::Error, &["--danger", "--error-bg"], Some("--danger"));
        check(Role::Success, &["--ok", "-", ""], None);
    }
}
