//! Accessibility tree of a page. A node takes a kilobyte in the protocol, so the page is measured first: of a large one
//! only parts are fetched, from the top.

use std::collections::{HashSet, VecDeque};
use std::fmt;

use cdp::{CdpError, Session};
use futures_util::future::join_all;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::time::Instant;

/// Number of elements and texts above which a page is fetched in parts.
pub(super) const MAX_WHOLE: u64 = 20_000;
/// Maximum number of nodes that are kept of a page.
const MAX_NODES: usize = 200_000;
/// Maximum number of nodes of a page that is fetched in parts.
const MAX_PARTS: usize = 20_000;
/// Maximum number of queries for the children of a node.
const MAX_ASKED: usize = 4_000;
/// Number of concurrent queries for children.
const AT_ONCE: usize = 32;
/// Number of children above which a node of a large page is not expanded; neither are selection lists.
const MAX_CHILDREN: usize = 5_000;
/// Maximum number of JSON values in one answer. Only a few strings per node are kept of them.
const MAX_VALUES: usize = 16_000_000;

/// Function that counts elements and texts up to a limit, including open shadow trees.
pub(super) const COUNT: &str = "(most) => { let count = 0; const roots = [document];
    for (let root = roots.pop(); root && count <= most; root = roots.pop()) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node && count <= most; node = walker.nextNode()) { count += 1; if (node.shadowRoot) roots.push(node.shadowRoot); }
    } return count; }";

/// Nodes of a page, parents before their children.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Tree {
    pub(super) nodes: Nodes,
    /// Whether nodes are missing.
    #[serde(skip)]
    pub(super) is_cut: bool,
}

/// Nodes of a [`Tree`], limited while they are parsed.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    is_cut: bool,
}

/// Node of the accessibility tree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node {
    #[serde(rename = "nodeId")]
    pub(super) id: Box<str>,
    #[serde(rename = "parentId")]
    parent: Option<IgnoredAny>,
    #[serde(default, rename = "ignored")]
    pub(super) is_ignored: bool,
    #[serde(default)]
    pub(super) role: Told,
    #[serde(default)]
    pub(super) name: Told,
    #[serde(default)]
    pub(super) value: Told,
    #[serde(default, rename = "properties")]
    pub(super) states: States,
    #[serde(default, rename = "childIds")]
    pub(super) children: Vec<Box<str>>,
    #[serde(rename = "backendDOMNodeId")]
    pub(super) dom_node: Option<i64>,
}

/// Value of the protocol (`AXValue`).
#[derive(Debug, Default, Deserialize)]
pub(super) struct Told {
    #[serde(default)]
    value: Value,
}

/// Shown properties of a node.
#[derive(Debug, Default)]
pub(super) struct States(pub(super) Vec<String>);

#[derive(Deserialize)]
struct Property {
    name: String,
    value: Told,
}

#[derive(Deserialize)]
struct Root {
    node: Node,
}

impl Tree {
    /// Reads the tree of a page with this number of elements and texts. The end of a large page is missing.
    pub(super) async fn of(session: &Session, count: u64, by: Instant) -> Result<Self, CdpError> {
        let read = async {
            if count <= MAX_WHOLE {
                match session.call_as("Accessibility.getFullAXTree", json!({}), MAX_VALUES).await {
                    // Few nodes with long texts.
                    Err(CdpError::TooLarge { .. }) => {}
                    whole => return whole,
                }
            }
            session.call("Accessibility.enable", json!({})).await?;
            let tree = Self::in_parts(session).await;
            session.post("Accessibility.disable", json!({})).await;
            tree
        };
        let mut tree: Self = tokio::time::timeout_at(by, read).await.unwrap_or(Err(CdpError::Timeout))?;
        tree.is_cut |= tree.nodes.is_cut;
        Ok(tree)
    }

    /// Fetches nodes level by level up to the limits. Long lists are not expanded.
    async fn in_parts(session: &Session) -> Result<Self, CdpError> {
        let root: Root = session.call_as("Accessibility.getRootAXNode", json!({}), MAX_VALUES).await?;
        let mut tree = Self::default();
        let mut next = VecDeque::from([root.node]);
        let (mut asked, mut known) = (0, HashSet::new());
        while !next.is_empty() {
            let mut asks = Vec::new();
            while asks.len() < AT_ONCE
                && let Some(node) = next.pop_front()
            {
                // Children of an ignored node arrive both with it and on their own.
                if !known.insert(node.id.clone()) {
                    continue;
                }
                let is_closed = node.children.len() > MAX_CHILDREN || node.role.text().is_some_and(is_list);
                tree.is_cut |= is_closed;
                if !is_closed && !node.children.is_empty() {
                    let params = json!({ "id": node.id });
                    asks.push(session.call_as::<Self>("Accessibility.getChildAXNodes", params, MAX_VALUES));
                }
                tree.nodes.all.push(node);
            }
            asked += asks.len();
            if asked > MAX_ASKED || tree.nodes.all.len() + next.len() > MAX_PARTS {
                tree.is_cut = true;
                break;
            }
            for part in join_all(asks).await {
                match part {
                    Ok(part) => next.extend(part.nodes.all),
                    Err(error @ (CdpError::Closed | CdpError::Crashed)) => return Err(error),
                    // The node was removed meanwhile, or its answer is too large.
                    Err(_) => tree.is_cut = true,
                }
            }
        }
        tree.nodes.all.extend(next);
        Ok(tree)
    }
}

/// Whether the role is a selection list: its options are not shown, and there may be very many.
fn is_list(role: &str) -> bool {
    matches!(role, "combobox" | "listbox" | "MenuListPopup")
}

impl Node {
    pub(super) fn is_root(&self) -> bool {
        self.parent.is_none()
    }
}

impl Told {
    pub(super) fn text(&self) -> Option<&str> {
        self.value.as_str()
    }
}

impl Property {
    /// Returns a short text; `None` if the property is not shown.
    fn state(&self) -> Option<String> {
        let name = self.name.as_str();
        match (name, &self.value.value) {
            ("level", Value::Number(level)) => Some(format!("level={level}")),
            ("checked" | "pressed", Value::String(state)) if state == "true" => Some(name.to_owned()),
            ("checked" | "pressed", Value::String(state)) if state == "mixed" => Some(format!("{name}=mixed")),
            ("disabled" | "expanded" | "selected" | "required", Value::Bool(true)) => Some(name.to_owned()),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NodesVisitor)
    }
}

struct NodesVisitor;

impl<'de> Visitor<'de> for NodesVisitor {
    type Value = Nodes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Nodes, A::Error> {
        let mut nodes = Nodes::default();
        while nodes.all.len() < MAX_NODES {
            let Some(node) = list.next_element()? else { return Ok(nodes) };
            nodes.all.push(node);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            nodes.is_cut = true;
        }
        Ok(nodes)
    }
}

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StatesVisitor)
    }
}

struct StatesVisitor;

impl<'de> Visitor<'de> for StatesVisitor {
    type Value = States;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of properties")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<States, A::Error> {
        let mut states = Vec::new();
        while let Some(property) = list.next_element::<Property>()? {
            states.extend(property.state());
        }
        Ok(States(states))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_nodes_are_kept_than_are_read() {
        let node = r#"{"nodeId":"1","ignored":false,"role":{"type":"role","value":"option"},"properties":[
            {"name":"selected","value":{"type":"boolean","value":true}},{"name":"checked","value":{"value":"mixed"}},{"name":"x","value":{}}]}"#;
        let read = |count: usize| {
            let text = format!(r#"{{"nodes":[{}]}}"#, vec![node; count].join(","));
            serde_json::from_str::<Tree>(&text).unwrap().nodes
        };
        let nodes = read(MAX_NODES + 5);
        assert_eq!((nodes.all.len(), nodes.is_cut), (MAX_NODES, true));
        let nodes = read(2);
        assert_eq!((nodes.all.len(), nodes.is_cut), (2, false));
        assert_eq!((nodes.all[0].role.text(), nodes.all[0].is_root()), (Some("option"), true));
        assert_eq!(nodes.all[0].states.0, ["selected", "checked=mixed"]);
    }
}
