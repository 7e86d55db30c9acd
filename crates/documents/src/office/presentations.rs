//! Presentations: titles first, raised text, symbols, and charts with the values that they show.

use memchr::memmem;

use super::charts;
use super::marks::Script;
use super::package::{Package, resolved};
use super::symbols::SymbolFont;
use super::tree::{self, Element, Node};

/// Maximum number of slides and notes that are changed.
const MAX_PARTS: usize = 5000;

/// Whether the presentation has a main part, and no slides in it.
pub(super) fn is_empty(file: &[u8]) -> bool {
    let main = || {
        let mut package = Package::open(file)?;
        let main = package.main_part("ppt/presentation.xml");
        let text = package.text(&main)?;
        let root = tree::parse(&text)?;
        (root.local() == "presentation")
            .then(|| root.child("sldIdLst").is_none_or(|list| list.elements().next().is_none()))
    };
    main().unwrap_or(false)
}

/// Returns the presentation with its slides put right; `None` if nothing has to be changed.
pub(super) fn mended(file: &[u8]) -> Option<Vec<u8>> {
    let mut package = Package::open(file)?;
    let main = package.main_part("ppt/presentation.xml");
    let slides = package.relations(&main).into_iter().filter(|relation| relation.kind == "slide");
    let slides: Vec<String> = slides.map(|relation| resolved(&main, &relation.target)).take(MAX_PARTS).collect();
    for slide in slides {
        let notes = package.relations(&slide).into_iter().find(|relation| relation.kind == "notesSlide");
        let notes = notes.map(|relation| resolved(&slide, &relation.target));
        for part in std::iter::once(slide).chain(notes) {
            mend_part(&mut package, &part);
        }
    }
    charts::mend(&mut package, "ppt/charts/");
    package.rewritten()
}

fn mend_part(package: &mut Package<'_>, name: &str) {
    let Some(text) = package.text(name) else { return };
    let has = |sign: &str| memmem::find(text.as_bytes(), sign.as_bytes()).is_some();
    if !(has("baseline=") || has("Title\"") || has("title\"") || has("Symbol\"") || has("dings")) {
        return;
    }
    let Some(mut root) = tree::parse(&text) else { return };
    let mut is_changed = false;
    change(&mut root, &mut is_changed);
    if is_changed {
        let bytes = root.into_part(text.len());
        package.replace(name, bytes);
    }
}

fn change(element: &mut Element<'_>, is_changed: &mut bool) {
    match element.local() {
        "spTree" => *is_changed |= title_first(element),
        "r" | "fld" => *is_changed |= change_run(element),
        _ => {}
    }
    for node in &mut element.children {
        if let Node::Element(child) = node {
            change(child, is_changed);
        }
    }
}

/// Moves the title before the other shapes; returns whether it was behind one.
fn title_first(shapes: &mut Element<'_>) -> bool {
    let is_shape = |node: &Node<'_>| {
        node.element().is_some_and(|child| !matches!(child.local(), "nvGrpSpPr" | "grpSpPr" | "extLst"))
    };
    let first = shapes.children.iter().position(is_shape);
    let title = shapes.children.iter().position(|node| node.element().is_some_and(is_title));
    match (first, title) {
        (Some(first), Some(title)) if title > first => {
            shapes.children[first..=title].rotate_right(1);
            true
        }
        _ => false,
    }
}

fn is_title(shape: &Element<'_>) -> bool {
    let placeholder = shape.at(&["nvSpPr", "nvPr", "ph"]);
    let kind = placeholder.and_then(|placeholder| placeholder.attribute("type"));
    matches!(kind.as_deref(), Some("title" | "ctrTitle"))
}

/// Marks raised and lowered text, and replaces symbols; returns whether anything was changed.
fn change_run(run: &mut Element<'_>) -> bool {
    let Some(properties) = run.child("rPr") else { return false };
    let baseline = properties.attribute("baseline");
    let percent = baseline.and_then(|baseline| baseline.trim_end_matches('%').parse::<f32>().ok()).unwrap_or(0.0);
    let script = match percent {
        percent if percent > 0.0 => Script::Raised,
        percent if percent < 0.0 => Script::Lowered,
        _ => Script::Normal,
    };
    let font_name =
        |name: &str| properties.child(name)?.attribute("typeface").and_then(|name| SymbolFont::of_name(&name));
    let (letters, symbols) = (font_name("latin"), font_name("sym"));
    if script == Script::Normal && letters.is_none() && symbols.is_none() {
        return false;
    }
    for node in &mut run.children {
        let Node::Element(child) = node else { continue };
        if child.local() == "t" {
            let text = child.text();
            let text = match (letters, symbols) {
                (Some(font), _) => font.text(&text),
                (None, Some(font)) => private_only(font, &text),
                (None, None) => text,
            };
            let name = child.name.clone().into_owned();
            *child = Element::with_text(name, "", &script.marked(&text));
        }
    }
    true
}

/// Replaces the letters of the private use area, which are the ones that a font for symbols is for.
fn private_only(font: SymbolFont, text: &str) -> String {
    let shown = |letter: char| match letter {
        '\u{F000}'..='\u{F0FF}' => font.shown(u32::from(letter)).unwrap_or(letter),
        letter => letter,
    };
    text.chars().map(shown).collect()
}
