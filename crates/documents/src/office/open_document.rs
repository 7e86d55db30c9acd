//! OpenDocument: hidden text goes, and raised text, ruby and forms become what the converter understands.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memmem;

use super::marks::{self, Script};
use super::package::{Package, packed};
use super::tree::{self, Element, Node};

/// Maximum number of styles that one is based on.
const MAX_CHAIN: usize = 20;
/// Words of a part that needs a change.
const SIGNS: [&str; 8] = [
    "text-position",
    ":display=",
    "ruby",
    "is-hidden",
    "fieldmark",
    "draw:control ",
    "visibility=",
    ":class=\"title\"",
];

/// Returns the document with its text put right; `None` if nothing has to be changed.
pub(super) fn mended(file: &[u8]) -> Option<Vec<u8>> {
    let mut package = Package::open(file)?;
    let text = package.text("content.xml")?;
    let style_part = package.text("styles.xml").unwrap_or_default();
    let matters = |text: &str| SIGNS.iter().any(|sign| memmem::find(text.as_bytes(), sign.as_bytes()).is_some());
    if !matters(&text)
        && memmem::find(style_part.as_bytes(), b"text-position").is_none()
        && !style_part.contains(":display=")
    {
        return None;
    }
    let mut root = tree::parse(&text)?;
    let mut looks = Looks::default();
    if let Some(styles) = tree::parse(&style_part) {
        looks.add(&styles);
    }
    looks.add(&root);
    let mut controls = HashMap::new();
    root.each("forms", &mut |forms| collect_controls(forms, &mut controls));
    Body { looks: &looks, controls: &controls }.children(&mut root, Script::Normal);
    let part = root.into_part(text.len());
    package.replace("content.xml", part);
    package.rewritten()
}

/// Returns a document in one file of XML as a package.
pub(super) fn unfolded(file: &[u8], media_type: &str) -> Option<Vec<u8>> {
    let text = super::package::utf8(file.to_vec())?;
    let mut root = tree::parse(&text)?;
    if root.local() != "document" {
        return None;
    }
    let prefix = root.name.split_once(':').map(|(prefix, _)| format!("{prefix}:")).unwrap_or_default();
    root.name = Cow::Owned(format!("{prefix}document-content"));
    let content = root.clone().into_part(text.len());
    root.name = Cow::Owned(format!("{prefix}document-meta"));
    root.children.retain(|node| node.element().is_some_and(|element| element.local() == "meta"));
    packed(&[("mimetype", media_type.as_bytes()), ("content.xml", &content), ("meta.xml", &root.into_part(1000))])
}

/// Properties of text by the styles.
#[derive(Debug, Default)]
struct Looks(HashMap<(String, String), (Look, Option<String>)>);

#[derive(Debug, Clone, Copy, Default)]
struct Look {
    is_hidden: Option<bool>,
    script: Option<Script>,
}

impl Looks {
    fn add(&mut self, root: &Element<'_>) {
        for group in root.elements().filter(|group| matches!(group.local(), "styles" | "automatic-styles")) {
            for style in group.elements().filter(|style| style.local() == "style") {
                let text = |name: &str| style.attribute(name).map(Cow::into_owned);
                let (Some(family), Some(name)) = (text("family"), text("name")) else { continue };
                let look = style.child("text-properties").map(look).unwrap_or_default();
                self.0.insert((family, name), (look, text("parent-style-name")));
            }
        }
    }

    fn of(&self, family: &str, element: &Element<'_>) -> Look {
        let (mut sum, mut next) = (Look::default(), element.attribute("style-name").map(Cow::into_owned));
        for _ in 0..MAX_CHAIN {
            let found = next.take().and_then(|name| self.0.get(&(family.to_owned(), name)));
            let Some((look, parent)) = found else { break };
            sum.is_hidden = sum.is_hidden.or(look.is_hidden);
            sum.script = sum.script.or(look.script);
            next.clone_from(parent);
        }
        sum
    }
}

fn look(properties: &Element<'_>) -> Look {
    let script = properties.attribute("text-position").map(|position| {
        let first = position.split_whitespace().next().unwrap_or_default();
        match first.trim_end_matches('%').parse::<f32>() {
            _ if first == "super" => Script::Raised,
            _ if first == "sub" => Script::Lowered,
            Ok(percent) if percent > 0.0 => Script::Raised,
            Ok(percent) if percent < 0.0 => Script::Lowered,
            _ => Script::Normal,
        }
    });
    Look { is_hidden: properties.attribute("display").map(|display| display == "none"), script }
}

struct Body<'b> {
    looks: &'b Looks,
    /// Shown values of form controls, by the ids of the controls.
    controls: &'b HashMap<String, String>,
}

impl Body<'_> {
    fn children(&self, element: &mut Element<'_>, script: Script) {
        let mut out = Vec::with_capacity(element.children.len());
        for node in std::mem::take(&mut element.children) {
            match node {
                Node::Text(text) if script == Script::Normal => out.push(Node::Text(text)),
                Node::Text(text) => out.push(Node::Text(Cow::Owned(script.marked(&text)))),
                Node::Element(child) => out.extend(self.child(child, script)),
            }
        }
        if element.name == "draw:page" {
            // A stable sort, so that the others stay in their order.
            out.sort_by_key(|node| {
                node.element().is_none_or(|child| child.attribute("class").as_deref() != Some("title"))
            });
        }
        element.children = out;
    }

    fn child<'e>(&self, mut child: Element<'e>, script: Script) -> Option<Node<'e>> {
        let shown = |text: String| Some(Node::Text(Cow::Owned(tree::escaped(&text))));
        let mut inner = script;
        match child.local() {
            "p" | "h" if self.is_hidden(&child) => return None,
            "p" | "h" => inner = self.looks.of("paragraph", &child).script.unwrap_or(Script::Normal),
            "span" => {
                let look = self.looks.of("text", &child);
                if look.is_hidden == Some(true) {
                    return None;
                }
                inner = look.script.unwrap_or(script);
            }
            "section" if is(&child, "display", "none") || is(&child, "is-hidden", "true") => return None,
            "hidden-text" if is(&child, "is-hidden", "true") => return None,
            "table-row" if is(&child, "visibility", "collapse") => return None,
            "note-body" | "annotation" => inner = Script::Normal,
            "ruby" => return shown(script.marked(&ruby(&child))),
            "fieldmark" => {
                if let Some(text) = field(&child) {
                    return shown(text);
                }
            }
            "control" => {
                let known = child.attribute("control").and_then(|id| self.controls.get(id.as_ref()).cloned());
                if let Some(text) = known {
                    return shown(text);
                }
            }
            _ => {}
        }
        self.children(&mut child, inner);
        Some(Node::Element(child))
    }

    /// Whether a paragraph is hidden by its style, or by a field in it.
    fn is_hidden(&self, paragraph: &Element<'_>) -> bool {
        let by_field = paragraph.below("hidden-paragraph").is_some_and(|field| is(field, "is-hidden", "true"));
        by_field || self.looks.of("paragraph", paragraph).is_hidden == Some(true)
    }
}

fn is(element: &Element<'_>, name: &str, value: &str) -> bool {
    element.attribute(name).as_deref() == Some(value)
}

/// Returns a word with its reading in brackets.
fn ruby(ruby: &Element<'_>) -> String {
    let text = |name: &str| ruby.child(name).map(Element::text).unwrap_or_default();
    let (word, reading) = (text("ruby-base"), text("ruby-text"));
    if reading.trim().is_empty() { word } else { format!("{word}({})", reading.trim()) }
}

/// Returns what a field of a form shows.
fn field(field: &Element<'_>) -> Option<String> {
    let kind = field.attribute("type")?;
    let value = |wanted: &str| {
        let mut all = field.elements().filter(|entry| is(entry, "name", wanted));
        all.next()?.attribute("value").map(Cow::into_owned)
    };
    match kind.rsplit('.').next()? {
        "FORMCHECKBOX" => Some(marks::ticked(value("Checkbox_Checked").as_deref() == Some("true")).to_owned()),
        "FORMDROPDOWN" => {
            let chosen = value("Dropdown_Selected")?.parse::<usize>().ok()?;
            let mut entries = field.elements().filter(|entry| is(entry, "name", "Dropdown_ListEntry"));
            entries.nth(chosen)?.attribute("value").map(Cow::into_owned)
        }
        _ => None,
    }
}

/// Collects what the controls of a form show, by their id.
fn collect_controls(form: &Element<'_>, controls: &mut HashMap<String, String>) {
    for control in form.elements() {
        collect_controls(control, controls);
        let text = |name: &str| control.attribute(name).map(Cow::into_owned);
        let shown = match control.local() {
            "checkbox" => {
                let is_ticked = text("current-state").or_else(|| text("state")).as_deref() == Some("checked");
                Some(format!("{} {}", marks::ticked(is_ticked), text("label").unwrap_or_default()))
            }
            "radio" => {
                let is_ticked = text("current-selected").or_else(|| text("selected")).as_deref() == Some("true");
                Some(format!("{} {}", marks::ticked(is_ticked), text("label").unwrap_or_default()))
            }
            "text" | "textarea" | "combobox" | "date" | "time" | "number" | "formatted-text" => {
                text("current-value").or_else(|| text("value"))
            }
            "listbox" => {
                let chosen =
                    |option: &&Element<'_>| is(option, "current-selected", "true") || is(option, "selected", "true");
                let mut options = control.elements().filter(|option| option.local() == "option");
                options.rfind(|option| chosen(option)).and_then(|option| option.attribute("label").map(Cow::into_owned))
            }
            _ => None,
        };
        if let (Some(id), Some(shown)) = (text("id"), shown) {
            controls.insert(id, shown.trim_end().to_owned());
        }
    }
}
