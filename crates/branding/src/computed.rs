//! Branding from a sample of computed styles: the look of the rendered page.

mod counts;
mod logo;
mod palette;
mod shapes;
mod typography;

use page::Page;
use wire::{Branding, ColorScheme, Spacing, Typography};

use crate::declared::images;
use crate::head::Head;
use crate::sample::Sample;
use crate::voice::{VisualTraits, Voice};
use palette::Palette;
use typography::Letters;

/// Computes the branding of a page from a `sample` of its computed styles. Names, icons and texts are read from `page`,
/// the same page after its scripts have run.
///
/// Members without a value are absent; in `images`, a missing `logo`, `favicon` or `ogImage` is null.
///
/// ```
/// use branding::{Sample, computed};
/// use serde_json::json;
///
/// let sample: Sample = serde_json::from_value(json!({
///     "ground": "#ffffff",
///     "body": { "kind": "body", "color": "#222222", "ground": "#ffffff", "font": "Inter, sans-serif", "size": 16 },
///     "elements": [{
///         "kind": "button", "tag": "a", "text": "Get started", "color": "#ffffff", "background": "#0d6efd",
///         "ground": "#0d6efd", "radius": "6px", "box": { "x": 40, "y": 300, "width": 120, "height": 40 },
///     }],
/// })).unwrap();
/// let url = url::Url::parse("https://acme.test/").unwrap();
/// let page = page::Page::parse("<title>Acme</title><link rel=icon href=/icon.svg>", &url);
///
/// let branding = computed(&sample, &page);
/// assert_eq!(branding.brand_name.as_deref(), Some("Acme"));
/// assert_eq!(branding.colors["primary"], "#0D6EFD");
/// assert_eq!(branding.components["buttonPrimary"]["borderRadius"], "6px");
/// assert_eq!(branding.images["favicon"].as_deref(), Some("https://acme.test/icon.svg"));
/// ```
pub fn computed(sample: &Sample, page: &Page) -> Branding {
    let mut head = Head::read(page);
    let palette = Palette::of(sample, &head);
    let letters = Letters::of(sample);
    head.logo = logo::logo(sample, head.brand_name.as_deref()).or(head.logo);
    let voice = Voice::of(page);
    let look = VisualTraits { serif: letters.serif, heavy: letters.heavy, hues: palette.hues };
    let spacing = shapes::spacing(sample);
    Branding {
        color_scheme: Some(if palette.ground.luminance() < 0.18 { ColorScheme::Dark } else { ColorScheme::Light }),
        components: shapes::components(sample, &palette),
        icons: shapes::icons(sample, &palette),
        animations: shapes::animations(sample),
        layout: shapes::layout(sample),
        tone: voice.tone(),
        personality: voice.personality(look),
        images: images(&head),
        brand_name: head.brand_name,
        logo: head.logo,
        colors: palette.by_role,
        fonts: letters.fonts,
        typography: Some(letters.typography).filter(|typography| *typography != Typography::default()),
        spacing: Some(spacing).filter(|spacing| *spacing != Spacing::default()),
    }
}
