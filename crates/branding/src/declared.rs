//! Branding from the declarations of HTML and style sheets, for pages that no browser has rendered.

use std::collections::BTreeMap;

use page::{Index, Page, absolute, local_name};
use serde_json::{Map, Value};
use url::Url;
use wire::{Branding, ColorScheme, Font, Spacing, Typography};

use crate::color::Color;
use crate::css::{MAX_BYTES, Sheet, StyledPart, Styles, Theme, color_in, families, read_sheets};
use crate::fonts::{chosen, is_serif};
use crate::head::Head;
use crate::roles::{Role, named};
use crate::voice::{VisualTraits, Voice};

/// Limit on linked style sheets.
const MAX_LINKED: usize = 16;

type Words = BTreeMap<String, String>;

/// Properties for a background colour; the first one that is declared counts.
const GROUND: [&str; 2] = ["background-color", "background"];

/// Reads the branding of a page from its declarations: `<style>` elements, the `style` attributes of `<html>` and
/// `<body>`, and `styles`, the linked style sheets that the caller has, in document order. At most 1 MiB and 20 000
/// rules of CSS are read.
///
/// The cascade is not computed: a rule counts if its selector alone says what it is for, as `body`, `a` or
/// `.btn-primary` do. Members without a value are absent; in `images`, a missing `logo`, `favicon` or `ogImage` is
/// null.
///
/// ```
/// use branding::{Sheet, declared};
///
/// let url = url::Url::parse("https://acme.test/").unwrap();
/// let page = page::Page::parse("<title>Acme</title><style>a { color: var(--brand) }</style>", &url);
/// let linked = Sheet { text: ":root { --brand: #639 } body { font: 1rem/1.5 Inter, sans-serif }".into() };
///
/// let branding = declared(&page, &[linked]);
/// assert_eq!(branding.colors["primary"], "#663399");
/// assert_eq!(branding.colors["link"], "#663399");
/// assert_eq!(branding.fonts[0].family, "Inter");
/// ```
pub fn declared(page: &Page, styles: &[Sheet]) -> Branding {
    let head = Head::read(page);
    let styles = sheets(page, styles);
    let colors = colors(&head, &styles);
    let stacks = Stacks::of(&styles);
    let voice = Voice::of(page);
    let hues = colors.values().filter(|hex| Color::parse(hex).is_some_and(Color::is_chromatic)).count();
    let look = VisualTraits { serif: is_serif(&stacks.body), heavy: false, hues };
    let (typography, spacing) = (typography(&styles, &stacks), spacing(&styles));
    Branding {
        color_scheme: scheme(&head, &styles, colors.get("background").and_then(|hex| Color::parse(hex))),
        components: components(&styles),
        animations: animations(&styles),
        tone: voice.tone(),
        personality: voice.personality(look),
        images: images(&head),
        fonts: fonts(&stacks, &styles),
        typography: Some(typography).filter(|typography| *typography != Typography::default()),
        spacing: Some(spacing).filter(|spacing| *spacing != Spacing::default()),
        brand_name: head.brand_name,
        logo: head.logo,
        colors,
        icons: Words::new(),
        layout: Map::new(),
    }
}

/// Returns the pictures by role; the roles of the contract are always present.
pub(crate) fn images(head: &Head) -> BTreeMap<String, Option<String>> {
    let always = [("logo", &head.logo), ("favicon", &head.favicon), ("ogImage", &head.og_image)];
    let touch_icon = head.touch_icon.is_some().then_some(("appleTouchIcon", &head.touch_icon));
    always.into_iter().chain(touch_icon).map(|(role, url)| (role.to_owned(), url.clone())).collect()
}

/// Returns the style sheets that a page links to, in document order, without duplicates, at most 16. The caller fetches
/// them for [`declared`].
pub fn linked(page: &Page) -> Vec<Url> {
    let mut found: Vec<Url> = Vec::new();
    for index in page.positions().filter(|index| page.is(*index, &local_name!("link"))) {
        let rel = page.attr(index, "rel").map(|rel| rel.to_ascii_lowercase()).unwrap_or_default();
        let is_sheet = rel.split_ascii_whitespace().any(|word| word == "stylesheet") && !rel.contains("alternate");
        let href = page.attr(index, "href").filter(|_| is_sheet && is_for_screens(page, index));
        let url = href.and_then(|href| absolute(page.base(), &href));
        found.extend(url.filter(|url| matches!(url.scheme(), "http" | "https") && !found.contains(url)));
        if found.len() == MAX_LINKED {
            break;
        }
    }
    found
}

fn is_for_screens(page: &Page, index: Index) -> bool {
    page.attr(index, "media").is_none_or(|media| !media.contains("print") && !media.contains("dark"))
}

/// Reads linked style sheets, then those in the page, then its `style` attributes: the order in most pages.
fn sheets(page: &Page, linked: &[Sheet]) -> Styles {
    let of_page = |index: usize| page.is(index, &local_name!("style")) && is_for_screens(page, index);
    let mut inside = Vec::new();
    let mut left = MAX_BYTES;
    for index in page.positions().filter(|index| of_page(*index)) {
        let text = page.text_of(index);
        left = left.saturating_sub(text.len());
        inside.push(text);
        if left == 0 {
            break;
        }
    }
    let attribute = |(part, name): (StyledPart, _)| Some((part, page.attr(page.first(&name)?, "style")?.to_string()));
    let attributes: Vec<(StyledPart, String)> =
        [(StyledPart::Root, local_name!("html")), (StyledPart::Body, local_name!("body"))]
            .into_iter()
            .filter_map(attribute)
            .collect();
    let text = linked.iter().map(|sheet| sheet.text.as_str()).chain(inside.iter().map(String::as_str));
    read_sheets(text, &attributes, &theme(page))
}

fn theme(page: &Page) -> Theme {
    let mut theme = Theme::default();
    for name in [local_name!("html"), local_name!("body")] {
        let element = page.first(&name).and_then(|index| page.element(index));
        for attribute in element.iter().flat_map(|element| &element.attrs) {
            theme.add(&attribute.name.local, &attribute.value);
        }
    }
    theme
}

fn colors(head: &Head, styles: &Styles) -> Words {
    let variables: Vec<(&str, Color)> = styles
        .variables
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), variable_color(&styles.fill(value)?)?)))
        .collect();
    let variable = |role: Role| named(role, variables.iter().copied());
    let declared =
        |part: StyledPart, properties: &[&str]| styles.first(part, properties).and_then(|value| color_in(&value));
    let hue = |color: Option<Color>| color.filter(|color| color.is_chromatic());
    let page =
        |properties: &[&str]| declared(StyledPart::Body, properties).or_else(|| declared(StyledPart::Root, properties));
    let link = declared(StyledPart::Link, &["color"]).or_else(|| variable(Role::Link));
    let button = declared(StyledPart::ButtonPrimary, &GROUND).or_else(|| hue(declared(StyledPart::Button, &GROUND)));
    let header = || hue(declared(StyledPart::Header, &GROUND));
    let ground = page(&GROUND).or_else(|| variable(Role::Background));
    let below = ground.map_or(Color::WHITE, |ground| ground.over(Color::WHITE));
    let roles = [
        ("primary", variable(Role::Primary).or(hue(head.theme_color)).or(button).or_else(header).or(hue(link))),
        ("secondary", variable(Role::Secondary).or_else(|| declared(StyledPart::ButtonSecondary, &GROUND))),
        ("accent", variable(Role::Accent)),
        ("background", ground),
        ("textPrimary", page(&["color"]).or_else(|| variable(Role::Text))),
        ("textSecondary", variable(Role::MutedText).or_else(|| declared(StyledPart::Small, &["color"]))),
        ("link", link),
        ("success", variable(Role::Success)),
        ("warning", variable(Role::Warning)),
        ("error", variable(Role::Error)),
    ];
    roles.into_iter().filter_map(|(role, color)| Some((role.to_owned(), color?.over(below).hex()))).collect()
}

/// Parses the colour of a variable, which may be only the arguments of `hsl()` or `rgb()`: style sheets assemble the
/// colour where they use it.
fn variable_color(value: &str) -> Option<Color> {
    let value = value.trim();
    let digits = value.starts_with(|c: char| c.is_ascii_digit());
    match (digits, value.contains('%')) {
        (false, _) => Color::parse(value),
        (true, true) => Color::parse(&format!("hsl({value})")),
        (true, false) if value.split([',', ' ']).filter(|part| !part.is_empty()).count() == 3 => {
            Color::parse(&format!("rgb({value})"))
        }
        _ => None,
    }
}

fn scheme(head: &Head, styles: &Styles, ground: Option<Color>) -> Option<ColorScheme> {
    if let Some(ground) = ground {
        return Some(if ground.luminance() < 0.18 { ColorScheme::Dark } else { ColorScheme::Light });
    }
    let declared = styles.get(StyledPart::Root, "color-scheme").or_else(|| head.color_scheme.clone())?;
    match (declared.contains("light"), declared.contains("dark")) {
        (false, true) => Some(ColorScheme::Dark),
        (true, _) => Some(ColorScheme::Light),
        _ => None,
    }
}

/// Font stacks by their use.
struct Stacks {
    body: Vec<String>,
    paragraph: Vec<String>,
    heading: Vec<String>,
    code: Vec<String>,
}

impl Stacks {
    fn of(styles: &Styles) -> Stacks {
        let of_parts = |parts: &[StyledPart]| {
            parts.iter().map(|part| stack(styles, *part)).find(|stack| !stack.is_empty()).unwrap_or_default()
        };
        Stacks {
            body: of_parts(&[StyledPart::Body, StyledPart::Root]),
            paragraph: of_parts(&[StyledPart::Paragraph]),
            heading: of_parts(&[
                StyledPart::Heading(1),
                StyledPart::Heading(2),
                StyledPart::Heading(0),
                StyledPart::Heading(3),
            ]),
            code: of_parts(&[StyledPart::Code]),
        }
    }

    /// Returns the font stacks by role, without empty ones.
    fn roles(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        let heading = if self.heading.is_empty() { &self.body } else { &self.heading };
        let paragraph = if self.paragraph.is_empty() { &self.body } else { &self.paragraph };
        let all = [
            ("primary", paragraph),
            ("heading", heading),
            ("body", &self.body),
            ("paragraph", paragraph),
            ("code", &self.code),
        ];
        all.into_iter().filter(|(_, stack)| !stack.is_empty())
    }
}

/// Returns the font stack of a part: from `font-family`, else from the text after the size in `font`.
fn stack(styles: &Styles, part: StyledPart) -> Vec<String> {
    if let Some(list) = styles.get(part, "font-family") {
        return families(&list)
            .into_iter()
            .filter(|family| !matches!(family.as_str(), "inherit" | "initial" | "unset"))
            .collect();
    }
    let Some(font) = styles.get(part, "font") else { return Vec::new() };
    let size = font
        .split_ascii_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '.') && word.contains(['p', 'e', '%', '/']));
    let behind = size.and_then(|size| font.split_once(size)).map(|(_, behind)| behind).unwrap_or_default();
    families(behind)
}

fn fonts(stacks: &Stacks, styles: &Styles) -> Vec<Font> {
    let loaded = |family: &str| styles.faces.iter().any(|face| face.eq_ignore_ascii_case(family));
    let mut fonts: Vec<Font> = Vec::new();
    let mut add = |family: &str, role: Option<&str>| {
        if !fonts.iter().any(|font| font.family == family) {
            let mut more: Map<String, Value> = role.map(|role| ("role".to_owned(), role.into())).into_iter().collect();
            more.insert("webFont".into(), loaded(family).into());
            fonts.push(Font { family: family.to_owned(), more });
        }
    };
    for (role, stack) in
        [("body", &stacks.body), ("body", &stacks.paragraph), ("heading", &stacks.heading), ("code", &stacks.code)]
    {
        if let Some(family) = chosen(stack, loaded) {
            add(&family, Some(role));
        }
    }
    styles.faces.iter().for_each(|face| add(face, None));
    fonts
}

fn typography(styles: &Styles, stacks: &Stacks) -> Typography {
    let loaded = |family: &str| styles.faces.iter().any(|face| face.eq_ignore_ascii_case(family));
    let of_contract = |role: &str| matches!(role, "primary" | "heading" | "code");
    let font_families = stacks.roles().filter(|(role, _)| of_contract(role));
    let font_families = font_families.filter_map(|(role, stack)| Some((role.to_owned(), chosen(stack, loaded)?)));
    let font_stacks =
        stacks.roles().filter(|(role, _)| *role != "code").map(|(role, stack)| (role.to_owned(), stack.clone()));
    let size = |part: StyledPart| styles.get(part, "font-size").filter(|size| is_length(size));
    let parts = [
        ("h1", StyledPart::Heading(1)),
        ("h2", StyledPart::Heading(2)),
        ("h3", StyledPart::Heading(3)),
        ("body", StyledPart::Body),
        ("small", StyledPart::Small),
    ];
    let font_sizes = parts.into_iter().filter_map(|(role, part)| Some((role.to_owned(), size(part)?)));
    let height = |part: StyledPart| {
        styles.get(part, "line-height")?.parse::<f64>().ok().filter(|height| (0.5..5.0).contains(height))
    };
    let heights = [
        ("heading", height(StyledPart::Heading(1))),
        ("body", height(StyledPart::Body).or_else(|| height(StyledPart::Root))),
    ];
    let line_heights = heights.into_iter().filter_map(|(role, height)| Some((role.to_owned(), height?)));
    let weight = |part: StyledPart| {
        styles.get(part, "font-weight")?.parse::<u32>().ok().filter(|weight| (1..=1000).contains(weight))
    };
    let weights = [StyledPart::Body, StyledPart::Heading(1), StyledPart::Heading(2)].into_iter().filter_map(weight);
    let font_weights = weights.map(|weight| (weight_name(weight).to_owned(), weight));
    Typography {
        font_families: font_families.collect(),
        font_stacks: font_stacks.collect(),
        font_sizes: font_sizes.collect(),
        line_heights: line_heights.collect(),
        font_weights: font_weights.collect(),
    }
}

fn weight_name(weight: u32) -> &'static str {
    match weight {
        0..350 => "light",
        350..450 => "regular",
        450..650 => "medium",
        _ => "bold",
    }
}

fn is_length(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || value.starts_with("calc(")
        || value.starts_with("clamp(")
}

fn spacing(styles: &Styles) -> Spacing {
    let parts = [StyledPart::ButtonPrimary, StyledPart::Button, StyledPart::Input];
    let radius =
        parts.into_iter().filter_map(|part| styles.get(part, "border-radius")).find(|radius| is_length(radius));
    Spacing { border_radius: radius, ..Spacing::default() }
}

fn components(styles: &Styles) -> BTreeMap<String, Words> {
    let parts = [
        ("buttonPrimary", StyledPart::ButtonPrimary),
        ("buttonSecondary", StyledPart::ButtonSecondary),
        ("input", StyledPart::Input),
    ];
    let button = |part: StyledPart| matches!(part, StyledPart::ButtonPrimary | StyledPart::ButtonSecondary);
    let mut found = BTreeMap::new();
    for (name, part) in parts {
        let own = |properties: &[&str]| styles.first(part, properties);
        let shared = |properties: &[&str]| {
            own(properties).or_else(|| styles.first(StyledPart::Button, properties).filter(|_| button(part)))
        };
        let hex = |value: Option<String>| {
            value.and_then(|value| color_in(&value)).map(|color| color.over(Color::WHITE).hex())
        };
        let focus = styles
            .first(StyledPart::InputFocus, &["border-color", "border", "outline-color"])
            .filter(|_| part == StyledPart::Input);
        let members = [
            ("background", hex(own(&GROUND))),
            ("textColor", hex(own(&["color"]))),
            ("borderColor", hex(own(&["border-color", "border"]))),
            ("borderRadius", shared(&["border-radius"]).filter(|radius| is_length(radius))),
            ("focusBorderColor", hex(focus)),
        ];
        let look: Words = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        if look.keys().any(|member| member != "borderRadius") {
            found.insert(name.to_owned(), look);
        }
    }
    found
}

fn animations(styles: &Styles) -> Words {
    let moves = |property: &str| {
        [StyledPart::ButtonPrimary, StyledPart::Button, StyledPart::Link, StyledPart::Input]
            .into_iter()
            .find_map(|part| styles.get(part, property))
    };
    let transition = moves("transition").unwrap_or_default();
    let mut words = transition.split([' ', ',']).filter(|word| !word.is_empty());
    let is_time = |word: &str| word.ends_with('s') && word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let duration = moves("transition-duration").or_else(|| words.clone().find(|word| is_time(word)).map(str::to_owned));
    let named = ["ease", "ease-in", "ease-out", "ease-in-out", "linear"];
    let easing =
        moves("transition-timing-function").or_else(|| words.find(|word| named.contains(word)).map(str::to_owned));
    let members = [("transitionDuration", duration), ("easing", easing)];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
