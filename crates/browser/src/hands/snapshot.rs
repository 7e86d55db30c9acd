//! Accessibility snapshot of a page, with references for acting on its elements.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;
use tokio::time::Instant;

use super::tree::{COUNT, MAX_WHOLE, Node, Tree};
use super::{Failure, Hands};
use crate::tab::World;

/// Maximum number of lines in a snapshot.
const MAX_LINES: usize = 2_000;
/// Maximum depth of the tree.
const MAX_DEPTH: usize = 200;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;

/// Roles of interactive elements.
const ACTIVE: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];
/// Roles that describe the structure of the page.
const CONTENT: &[&str] = &[
    "heading",
    "cell",
    "gridcell",
    "columnheader",
    "rowheader",
    "listitem",
    "article",
    "region",
    "main",
    "navigation",
];
/// Roles of mere containers, which are not shown.
const SILENT: &[&str] =
    &["generic", "none", "presentation", "RootWebArea", "InlineTextBox", "LineBreak", "ListMarker", "paragraph"];

/// One element in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Number of shown elements around it.
    pub depth: usize,
    /// Role, such as `button`.
    pub role: String,
    /// Accessible name, such as `Sign in`.
    pub name: String,
    /// Reference for verbs, such as `e1`; text has none.
    pub reference: Option<String>,
    /// Value, if it differs from the name.
    pub value: Option<String>,
    /// Other states, such as `level=2`, `checked` or `disabled`.
    pub states: Vec<String>,
}

/// Elements of a page, in document order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Shown elements.
    pub lines: Vec<Line>,
    /// Whether elements were left out.
    pub is_cut: bool,
}

impl Line {
    /// Whether the element is interactive.
    #[must_use]
    pub fn is_active(&self) -> bool {
        ACTIVE.contains(&self.role.as_str())
    }
}

impl Snapshot {
    /// Formats the snapshot as text with one element per line: `- button "Sign in" [ref=e1]`.
    #[must_use]
    pub fn text(&self, only_active: bool) -> String {
        let mut text = String::new();
        for line in self.lines.iter().filter(|line| !only_active || line.is_active()) {
            let indent = if only_active { 0 } else { line.depth * 2 };
            let _ = write!(text, "{:indent$}- {}", "", line.role);
            if !line.name.is_empty() {
                let _ = write!(text, " {}", Value::from(line.name.as_str()));
            }
            for state in &line.states {
                let _ = write!(text, " [{state}]");
            }
            if let Some(reference) = &line.reference {
                let _ = write!(text, " [ref={reference}]");
            }
            if let Some(value) = &line.value {
                let _ = write!(text, ": {}", Value::from(value.as_str()));
            }
            text.push('\n');
        }
        match (text.is_empty(), self.is_cut) {
            (true, _) => "(nothing to act on)\n".clone_into(&mut text),
            (false, true) => text.push_str("(more follows that is not shown)\n"),
            _ => {}
        }
        text
    }
}

impl Hands {
    /// Takes a snapshot and assigns references. Earlier references become invalid.
    ///
    /// # Errors
    /// [`Failure`] if the page does not respond in time.
    pub async fn snapshot(&self, by: Instant) -> Result<Snapshot, Failure> {
        let document = self.tab.document().number;
        let count = self.evaluate_anew(World::Own, COUNT, &[MAX_WHOLE.into()], by).await?;
        let tree = Tree::of(self.tab.session(), count.as_u64().unwrap_or(u64::MAX), by).await?;
        let mut reading = Reading::new(&tree);
        for root in reading.roots.clone() {
            reading.read(root, 0, 0, "");
        }
        let mut refs = self.refs.lock();
        (refs.document, refs.nodes) = (document, reading.refs);
        Ok(reading.snapshot)
    }
}

struct Reading<'a> {
    nodes: HashMap<&'a str, &'a Node>,
    roots: Vec<&'a Node>,
    snapshot: Snapshot,
    refs: Vec<i64>,
}

impl<'a> Reading<'a> {
    fn new(tree: &'a Tree) -> Self {
        let nodes = tree.nodes.all.iter().map(|node| (node.id.as_ref(), node)).collect();
        let roots = tree.nodes.all.iter().filter(|node| node.is_root()).collect();
        let snapshot = Snapshot { is_cut: tree.is_cut, ..Snapshot::default() };
        Self { nodes, roots, snapshot, refs: Vec::new() }
    }

    /// Reads a node and its descendants. `said` is the name of the enclosing element, which its texts need not repeat.
    fn read(&mut self, node: &'a Node, depth: usize, level: usize, said: &str) {
        if level > MAX_DEPTH {
            return;
        }
        let shown = (!node.is_ignored).then(|| self.line(node, depth, said)).flatten();
        let (mut inner, mut around) = (depth, said.to_owned());
        if let Some(line) = shown {
            if self.snapshot.lines.len() >= MAX_LINES {
                self.snapshot.is_cut = true;
                return;
            }
            around.clone_from(&line.name);
            self.snapshot.lines.push(line);
            inner += 1;
        }
        for child in &node.children {
            if let Some(child) = self.nodes.get(child.as_ref()).copied() {
                self.read(child, inner, level + 1, &around);
            }
        }
    }

    fn line(&mut self, node: &Node, depth: usize, said: &str) -> Option<Line> {
        let role = node.role.text().filter(|role| !SILENT.contains(role))?;
        let role = if role == "StaticText" { "text" } else { role };
        let name = short(node.name.text().unwrap_or_default());
        let is_active = ACTIVE.contains(&role);
        if role == "text" && (name.is_empty() || said.contains(&name)) {
            return None;
        }
        let named = is_active || CONTENT.contains(&role) && !name.is_empty();
        let reference = node.dom_node.filter(|_| named).map(|id| {
            self.refs.push(id);
            format!("e{}", self.refs.len())
        });
        let value = node.value.text().map(short).filter(|value| !value.is_empty() && *value != name);
        Some(Line { depth, role: role.to_owned(), name, reference, value, states: node.states.0.clone() })
    }
}

fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tree_becomes_lines() {
        let node = |id: &str, parent: Value, role: &str, name: &str, children: &[&str]| {
            json!({ "nodeId": id, "parentId": parent, "role": { "value": role }, "name": { "value": name },
                "childIds": children, "backendDOMNodeId": 10 + id.parse::<i64>().unwrap() })
        };
        let answer = json!({ "nodes": [
            node("1", Value::Null, "RootWebArea", "Shop", &["2", "4"]),
            node("2", "1".into(), "heading", "Welcome", &["3"]),
            node("3", "2".into(), "StaticText", "Welcome", &[]),
            node("4", "1".into(), "generic", "", &["5", "6"]),
            node("5", "4".into(), "button", "Say \"hi\"", &[]),
            node("6", "4".into(), "StaticText", "free  of   charge", &[]),
        ] });
        let tree: Tree = serde_json::from_value(answer).unwrap();
        let mut reading = Reading::new(&tree);
        for root in reading.roots.clone() {
            reading.read(root, 0, 0, "");
        }
        assert_eq!(reading.refs, [12, 15]);
        assert_eq!(
            reading.snapshot.text(false),
            "- heading \"Welcome\" [ref=e1]\n- button \"Say \\\"hi\\\"\" [ref=e2]\n- text \"free of charge\"\n"
        );
        assert_eq!(reading.snapshot.text(true), "- button \"Say \\\"hi\\\"\" [ref=e2]\n");
    }
}
