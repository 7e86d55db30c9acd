//! Mapping from selectors to parts of a page, as far as their words alone allow.

/// A typical part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StyledPart {
    /// The page as a whole.
    Root,
    /// `<body>`.
    Body,
    /// Paragraphs.
    Paragraph,
    /// Headings of one level; 0 for all levels.
    Heading(u8),
    /// Links.
    Link,
    /// Any button.
    Button,
    /// The primary button.
    ButtonPrimary,
    /// The secondary button.
    ButtonSecondary,
    /// A form field.
    Input,
    /// A form field that has the focus.
    InputFocus,
    /// Code.
    Code,
    /// Small print.
    Small,
    /// The page header.
    Header,
}

/// Limit on stored classes and attributes.
const MAX_MARKS: usize = 100;
/// Length limit of one attribute, in bytes.
const MAX_MARK: usize = 1_000;
/// Words in selectors that mean a state or theme other than the default.
const OTHER_LOOKS: [&str; 6] = ["dark", "hover", "active", "disabled", "print", "visited"];

/// Classes and attributes of `<html>` and `<body>`, as selectors in lower case. They select the theme.
#[derive(Debug, Default)]
pub(crate) struct Theme(Vec<String>);

impl Theme {
    /// Adds an attribute of `<html>` or `<body>`.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if self.0.len() >= MAX_MARKS || value.len() > MAX_MARK {
            return;
        }
        let (name, value) = (name.to_ascii_lowercase(), value.to_ascii_lowercase());
        match name.as_str() {
            "class" => self.0.extend(value.split_ascii_whitespace().take(MAX_MARKS).map(|class| format!(".{class}"))),
            "id" => self.0.push(format!("#{value}")),
            _ => self.0.extend([format!("[{name}]"), format!("[{name}={value}]")]),
        }
    }

    /// Whether a selector such as `html.light` or `:root[data-theme="light"]` matches the page.
    fn is_meant(&self, compound: &str) -> bool {
        let bare = [":root", "html", "body"].iter().find_map(|base| compound.strip_prefix(base)).unwrap_or(compound);
        let plain: String = bare.chars().filter(|c| !matches!(c, '"' | '\'')).collect();
        !plain.is_empty() && marks(&plain).all(|mark| self.0.iter().any(|own| own == mark))
    }
}

/// Splits a compound selector before each of its classes, ids, attributes and pseudo-classes.
fn marks(compound: &str) -> impl Iterator<Item = &str> {
    let mut rest = compound;
    std::iter::from_fn(move || {
        let end = match rest.strip_prefix('[') {
            Some(inside) => inside.find(']').map_or(rest.len(), |end| end + 2),
            None => rest
                .char_indices()
                .skip(1)
                .find(|(_, c)| matches!(c, '.' | '#' | '[' | ':'))
                .map_or(rest.len(), |(at, _)| at),
        };
        let (mark, behind) = rest.split_at(end);
        rest = behind;
        (!mark.is_empty()).then_some(mark)
    })
}

/// Returns the parts that a list of selectors means. A selector with combinators means none, except for descendants of
/// `html`, `body` and `:root`.
pub(crate) fn parts(selectors: &str, theme: &Theme) -> Vec<StyledPart> {
    let mut found: Vec<StyledPart> = pieces(selectors).filter_map(|selector| part(selector, theme)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Splits a list of selectors at its commas, except for those in brackets.
fn pieces(selectors: &str) -> impl Iterator<Item = &str> {
    let mut open = 0_i32;
    selectors.split(move |c: char| {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => open -= 1,
            _ => {}
        }
        c == ',' && open == 0
    })
}

fn part(selector: &str, theme: &Theme) -> Option<StyledPart> {
    let selector = selector.trim().to_ascii_lowercase();
    if theme.is_meant(&selector) {
        return Some(StyledPart::Root);
    }
    let mut compounds = selector.split_ascii_whitespace().rev();
    let last = compounds.next()?;
    let elsewhere = compounds.any(|before| !matches!(before, "html" | "body" | ":root"));
    if elsewhere || selector.contains(['>', '+', '~', '*']) || OTHER_LOOKS.iter().any(|word| selector.contains(word)) {
        return None;
    }
    let (base, focused) = match last.split_once(":focus") {
        Some((base, "" | "-visible")) => (base, true),
        Some(_) => return None,
        None => (last, false),
    };
    match (of_compound(base.trim_end_matches(":link").trim_end_matches(":any-link"))?, focused) {
        (StyledPart::Input, true) => Some(StyledPart::InputFocus),
        (_, true) => None,
        (part, false) => Some(part),
    }
}

fn of_compound(compound: &str) -> Option<StyledPart> {
    Some(match compound {
        "html" | ":root" | ":host" | ":is(html)" => StyledPart::Root,
        "body" => StyledPart::Body,
        "p" => StyledPart::Paragraph,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => StyledPart::Heading(compound.as_bytes()[1] - b'0'),
        ".heading" | ".headings" => StyledPart::Heading(0),
        "a" | "a[href]" | "a:not([class])" | "a:not([href])" => StyledPart::Link,
        "code" | "pre" | "kbd" => StyledPart::Code,
        "small" => StyledPart::Small,
        "header" | ".header" | ".navbar" | ".site-header" | ".topbar" => StyledPart::Header,
        "button" | ".btn" | ".button" | "a.btn" | "a.button" | "button.btn" => StyledPart::Button,
        "input" | "textarea" | "select" | ".form-control" | ".input" | ".form-input" => StyledPart::Input,
        _ if compound.starts_with("input[type=") => of_field(compound),
        _ => return of_button(compound),
    })
}

fn of_field(compound: &str) -> StyledPart {
    if ["submit", "button", "reset"].iter().any(|kind| compound.contains(kind)) {
        StyledPart::Button
    } else {
        StyledPart::Input
    }
}

/// Returns the button that a class such as `btn-primary`, `button--primary` or `primary-button` means.
fn of_button(compound: &str) -> Option<StyledPart> {
    let class = compound.rsplit_once('.')?.1;
    let mut words = class.split(['-', '_']).filter(|word| !word.is_empty());
    let is_button = words.clone().any(|word| matches!(word, "btn" | "button" | "cta"))
        || compound.starts_with(".btn.")
        || compound.starts_with(".button.");
    if !is_button || class.contains("outline") || words.clone().count() > 3 {
        return None;
    }
    words.find_map(|word| match word {
        "primary" | "cta" => Some(StyledPart::ButtonPrimary),
        "secondary" => Some(StyledPart::ButtonSecondary),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_selectors_mean() {
        let check = |selectors: &str, expect: &[StyledPart]| {
            assert_eq!(parts(selectors, &Theme::default()), expect, "{selectors}")
        };
        check(":root, html", &[StyledPart::Root]);
        check("HTML BODY", &[StyledPart::Body]);
        check("h1, h2:hover, body h3", &[StyledPart::Heading(1), StyledPart::Heading(3)]);
        check("a, a:link, a:visited, nav a", &[StyledPart::Link]);
        check("[data-theme=dark], .dark", &[]);
        check(".btn, .btn-primary", &[StyledPart::Button, StyledPart::ButtonPrimary]);
        check("button.button--secondary", &[StyledPart::ButtonSecondary]);
        check(".button.is-primary, .primary-button, .btn-outline-primary", &[StyledPart::ButtonPrimary]);
        check(
            "input[type=submit], input:focus, textarea",
            &[StyledPart::Button, StyledPart::Input, StyledPart::InputFocus],
        );
        check("p > a, p + p, main p, p:first-child, *", &[]);
        check(":is(a, b), [title='x,y']", &[]);
        check("", &[]);
        check(".", &[]);
    }

    #[test]
    fn themes() {
        let mut theme = Theme::default();
        theme.add("class", "JS Light");
        theme.add("data-theme", "ayu");
        let check =
            |selectors: &str, expect: &[StyledPart]| assert_eq!(parts(selectors, &theme), expect, "{selectors}");
        for meant in [".light", "html.light", ":root[data-theme=\"Ayu\"]", "[data-theme]", "body.js[data-theme='ayu']"]
        {
            check(meant, &[StyledPart::Root]);
        }
        for other in
            [".dark", "html.light.x", "[data-theme=light]", "html:not(.light)", ".light:hover", "[data-theme", ".", "#"]
        {
            check(other, &[]);
        }
    }
}
