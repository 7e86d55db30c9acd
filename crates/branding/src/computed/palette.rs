//! Colours by role, chosen by weighted use in the sample.

use std::collections::BTreeMap;

use crate::color::{Color, Lab};
use crate::head::Head;
use crate::roles::{Role, named};
use crate::sample::{Element, ElementKind, Sample};

// Distances in Oklab, where black and white are 1 apart. Below 0.02 two colours look the same; the states of one button
// (at rest, under the pointer) differ by about 0.1.

/// Distance below which two colours count as the same.
const SAME: f64 = 0.03;
/// Distance below which two colours count as shades of one hue.
const SHADE: f64 = 0.12;
/// Contrast below which a text is not meant to be read.
const MIN_CONTRAST: f64 = 1.8;
/// Background of a page in dark mode that declares none.
const DARK: &str = "#121212";

/// The colours of a page.
pub(crate) struct Palette {
    pub(crate) by_role: BTreeMap<String, String>,
    pub(crate) ground: Color,
    pub(crate) primary: Option<Color>,
    /// Number of distinct hues.
    pub(crate) hues: usize,
}

/// Colours with their weights.
#[derive(Default, Clone)]
struct Pool(Vec<Entry>);

#[derive(Clone, Copy)]
struct Entry {
    color: Color,
    lab: Lab,
    weight: f64,
}

impl Pool {
    fn add(&mut self, color: Option<Color>, weight: f64) {
        let Some(color) = color else { return };
        match self.0.iter_mut().find(|entry| entry.color == color) {
            Some(entry) => entry.weight += weight,
            None => self.0.push(Entry { color, lab: color.lab(), weight }),
        }
    }

    /// Returns the weight of a colour together with those that look the same.
    fn weight(&self, of: &Entry) -> f64 {
        self.0.iter().filter(|entry| entry.lab.distance(of.lab) < SAME).map(|entry| entry.weight).sum()
    }

    /// Returns the colour that `fits` with the largest weight, counting colours that look the same as one; of these the
    /// one with the largest weight of its own.
    fn best(&self, fits: impl Fn(Color) -> bool) -> Option<Color> {
        let mut best: Option<(f64, &Entry)> = None;
        for entry in self.0.iter().filter(|entry| fits(entry.color)) {
            let sum = self.weight(entry);
            let is_more = |&(most, other): &(f64, &Entry)| sum > most || (sum == most && entry.weight > other.weight);
            if best.as_ref().is_none_or(is_more) {
                best = Some((sum, entry));
            }
        }
        best.map(|(_, entry)| entry.color)
    }

    /// Whether the pool contains a colour, or one that looks the same.
    fn holds(&self, color: Color) -> bool {
        self.0.iter().any(|entry| entry.weight > 0.0 && entry.color.distance(color) < SAME)
    }

    /// Counts the distinct hues that are used more than incidentally.
    fn hues(&self) -> usize {
        let mut hues: Vec<Lab> = Vec::new();
        for entry in self.0.iter().filter(|entry| entry.color.is_chromatic() && self.weight(entry) > 5.0) {
            if hues.iter().all(|other| other.distance(entry.lab) >= SHADE) {
                hues.push(entry.lab);
            }
        }
        hues.len()
    }
}

impl Palette {
    pub(crate) fn of(sample: &Sample, head: &Head) -> Palette {
        let ground = ground(sample);
        let readable = |color: Color| color.contrast(ground) >= MIN_CONTRAST;
        let texts = texts(sample, ground);
        let text = texts.best(readable);
        let link = links(sample, ground).best(readable);
        let paler = |color: Color| text.is_some_and(|text| color.contrast(ground) < text.contrast(ground) * 0.85);
        let muted =
            texts.best(|color| readable(color) && paler(color) && !color.is_chromatic() && is_away(color, link, SAME));
        let painted = painted(sample, head, ground);
        let [primary, secondary, accent] = brand(sample, &painted, ground, link);
        let notice = |role: Role, words: &[&str]| variable(sample, role).or_else(|| notice(sample, words));
        let roles = [
            ("primary", primary),
            ("secondary", secondary),
            ("accent", accent),
            ("background", Some(ground)),
            ("textPrimary", text),
            ("textSecondary", muted),
            ("link", link),
            ("success", notice(Role::Success, &["success", "tip"])),
            ("warning", notice(Role::Warning, &["warning", "caution"])),
            ("error", notice(Role::Error, &["danger", "error"])),
        ];
        let by_role = roles.into_iter().filter_map(|(role, color)| Some((role.to_owned(), color?.over(ground).hex())));
        let hues = painted.hues().max(usize::from(link.is_some_and(Color::is_chromatic)));
        Palette { by_role: by_role.collect(), ground, primary, hues }
    }
}

/// Returns the primary, secondary and accent colour. A custom property counts only if its colour is seen on the page:
/// frameworks define many that are unused.
fn brand(sample: &Sample, painted: &Pool, ground: Color, link: Option<Color>) -> [Option<Color>; 3] {
    let used = used(sample, ground);
    let seen = |role: Role| variable(sample, role).filter(|color| used.holds(*color) || painted.holds(*color));
    // A link weighs little, so that links decide only where nothing is painted, or many painted colours are grey.
    let mut all = painted.clone();
    for link in of_kind(sample, ElementKind::Link) {
        all.add(link.ink(), if link.framed { 1.0 } else { 1.5 });
    }
    // In this order: the colour that the style sheet names, the one with the most weight, the buttons even if they have
    // no hue, and the links.
    let primary = seen(Role::Primary).filter(|color| color.is_chromatic()).or_else(|| all.best(Color::is_chromatic));
    let primary = primary.or_else(|| pressed(sample, ground)).or(link);
    let other = |color: Color, from: Option<Color>| {
        color.is_chromatic() && is_away(color, primary, SHADE) && is_away(color, from, SHADE)
    };
    let secondary =
        seen(Role::Secondary).filter(|color| is_away(*color, primary, SAME) && is_away(*color, Some(ground), SAME));
    let secondary = secondary.or_else(|| painted.best(|color| other(color, None)));
    let accent = seen(Role::Accent).or_else(|| painted.best(|color| other(color, secondary)));
    let accent = accent.or_else(|| link.filter(|link| other(*link, secondary)));
    [primary, secondary, accent]
}

fn is_away(color: Color, from: Option<Color>, least: f64) -> bool {
    from.is_none_or(|from| color.distance(from) >= least)
}

fn variable(sample: &Sample, role: Role) -> Option<Color> {
    named(role, sample.variables.iter().filter_map(|variable| Some((&*variable.name, variable.color.0?))))
}

fn ground(sample: &Sample) -> Color {
    let plain = if sample.dark { Color::parse(DARK) } else { None }.unwrap_or(Color::WHITE);
    sample.ground.0.map_or(plain, |ground| ground.over(plain))
}

fn of_kind(sample: &Sample, kind: ElementKind) -> impl Iterator<Item = &Element> {
    sample.elements.iter().filter(move |element| element.kind == kind)
}

/// Collects the painted colours of the brand: buttons and bars weigh most, then large areas, headings and logos.
fn painted(sample: &Sample, head: &Head, ground: Color) -> Pool {
    // The weights were set by hand. One button in the text outweighs a declared theme colour, which is often that of a
    // template; a whole screen of one colour counts about as much as the latter.
    let mut pool = Pool::default();
    let own = |element: &Element| element.own_ground().map(|color| color.over(element.ground.0.unwrap_or(ground)));
    pool.add(head.theme_color, 20.0);
    for button in of_kind(sample, ElementKind::Button).filter(|button| is_labelled(button)) {
        pool.add(own(button), if button.framed { 15.0 } else { 30.0 });
        pool.add(button.border_color.0, 4.0);
    }
    for bar in sample.elements.iter().filter(|element| matches!(element.kind, ElementKind::Header | ElementKind::Nav)) {
        pool.add(own(bar), 30.0 + area_weight(bar));
    }
    for area in sample
        .elements
        .iter()
        .filter(|e| matches!(e.kind, ElementKind::Surface | ElementKind::Card | ElementKind::Footer))
    {
        pool.add(own(area), area_weight(area));
    }
    for heading in of_kind(sample, ElementKind::Heading) {
        pool.add(heading.ink(), 3.0);
    }
    for logo in sample.logos.iter().filter(|logo| logo.hint || &*logo.leads == "home") {
        paints(&logo.svg).for_each(|paint| pool.add(Some(paint), 8.0));
    }
    pool
}

/// Returns the weight of an area: 0 if small, about 20 for a whole screen, at most 25. It grows with the logarithm, so
/// that one large background does not outweigh all buttons.
fn area_weight(element: &Element) -> f64 {
    ((element.place.area() / 5_000.0).max(1.0).ln() * 4.0).min(25.0)
}

/// Whether a button has a readable label, rather than only an icon.
pub(crate) fn is_labelled(button: &Element) -> bool {
    button.text.chars().filter(|c| c.is_alphanumeric()).count() >= 2 && button.place.width.get() >= 40.0
}

/// Returns the hexadecimal colours in the source of an SVG.
fn paints(svg: &str) -> impl Iterator<Item = Color> {
    let parts = svg.split(['"', '\'']).filter(|part| part.starts_with('#') && part.len() <= 9);
    parts.filter_map(Color::parse).take(20)
}

/// Returns the background of the buttons, which may be black or grey.
fn pressed(sample: &Sample, ground: Color) -> Option<Color> {
    let mut pool = Pool::default();
    for button in of_kind(sample, ElementKind::Button).filter(|button| is_labelled(button)) {
        pool.add(button.own_ground().map(|color| color.over(ground)), button.place.area());
    }
    // WCAG 2.2 asks for a contrast of 3 for the parts of controls.
    pool.best(|color| color.contrast(ground) >= 3.0)
}

/// Collects every colour that is seen on the page.
fn used(sample: &Sample, ground: Color) -> Pool {
    let mut pool = Pool::default();
    for element in sample.elements.iter() {
        for color in [element.ink(), element.own_ground(), element.border_color.0] {
            pool.add(color.map(|color| color.over(ground)), 1.0);
        }
    }
    pool
}

/// Whether an element is seen on the background of the page, rather than on one of its own.
fn is_on(element: &Element, ground: Color) -> bool {
    element.ground.0.is_none_or(|own| own.distance(ground) < SHADE)
}

/// Collects the colours of running text, weighted by its length.
fn texts(sample: &Sample, ground: Color) -> Pool {
    let mut pool = Pool::default();
    for element in sample.elements.iter().filter(|element| is_on(element, ground)) {
        // Small print and headings count for less, as both often have a colour of their own.
        let weight = match element.kind {
            ElementKind::Paragraph if !element.framed => element.text.len() as f64,
            ElementKind::Paragraph | ElementKind::Small => element.text.len() as f64 * 0.2,
            ElementKind::Heading => element.text.len() as f64 * 0.1,
            _ => continue,
        };
        pool.add(element.ink(), weight);
    }
    if pool.0.is_empty() {
        pool.add(sample.body.ink(), 1.0);
    }
    pool
}

/// Collects the colours of links in the text; those in menus decide only if there are no others.
fn links(sample: &Sample, ground: Color) -> Pool {
    let mut pool = Pool::default();
    for link in of_kind(sample, ElementKind::Link).filter(|link| is_on(link, ground)) {
        let weight = if link.framed { 0.05 } else { 1.0 };
        let told = if link.underlined || link.ink().is_some_and(Color::is_chromatic) { 3.0 } else { 1.0 };
        pool.add(link.ink(), weight * told);
    }
    pool
}

/// Returns the colour of the first element whose name has one of `words`: the first of its border, background and text
/// that has a hue.
fn notice(sample: &Sample, words: &[&str]) -> Option<Color> {
    let named = |element: &&Element| {
        let name = element.name.to_ascii_lowercase();
        name.split(|c: char| !c.is_alphanumeric()).any(|part| words.contains(&part))
    };
    let painted = |element: &Element| {
        let colors = [element.border_color.0, element.own_ground(), element.ink()];
        colors.into_iter().flatten().find(|color| color.is_chromatic())
    };
    sample.elements.iter().filter(named).find_map(painted)
}
