//! Mail addresses that Cloudflare obfuscates as hexadecimal numbers, which its script decodes in the browser.

use super::super::{Data, GrowingNode, NONE};
use super::{append, attribute, clear, is_named, set_attribute};
use html5ever::local_name;

/// Path of links to obfuscated addresses; `#` and the encoded address follow.
pub(super) const PATH: &str = "/cdn-cgi/l/email-protection";
/// Placeholder texts shown until the script has run.
const STAND_INS: [&str; 2] = ["[email\u{a0}protected]", "[email protected]"];

/// Decodes every address as the script would: as text and as a `mailto:` link.
pub(super) fn decode(nodes: &mut [GrowingNode]) {
    for id in 0..nodes.len() as u32 {
        let shown = attribute(nodes, id, "data-cfemail").and_then(|code| decoded(code));
        let href = attribute(nodes, id, "href").filter(|_| is_named(nodes, id, &local_name!("a")));
        let linked = href.and_then(|href| {
            let (_, code) = href.split_once(PATH)?;
            code.strip_prefix('#').and_then(decoded).or_else(|| shown.clone())
        });
        if let Some(address) = &linked {
            set_attribute(nodes, id, "href", &format!("mailto:{address}"));
        }
        let linked = linked.filter(|_| holds_stand_in(nodes, id));
        let linked = linked.map(|link| link.split('?').next().unwrap_or_default().to_owned());
        if let Some(address) = shown.or(linked) {
            set_text(nodes, id, &address);
        }
    }
}

/// Decodes an address: hexadecimal bytes, of which the first is the XOR key of the others.
fn decoded(code: &str) -> Option<String> {
    let digits = code.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = digits.map(byte).collect::<Option<_>>().filter(|_| code.len().is_multiple_of(2))?;
    let (key, hidden) = bytes.split_first()?;
    let address = String::from_utf8(hidden.iter().map(|byte| byte ^ key).collect()).ok()?;
    (!address.is_empty() && !address.contains(char::is_control)).then_some(address)
}

fn holds_stand_in(nodes: &[GrowingNode], id: u32) -> bool {
    let GrowingNode { first, last, .. } = nodes[id as usize];
    first != NONE
        && first == last
        && matches!(&nodes[first as usize].data, Data::Text(text) if STAND_INS.contains(&text.trim()))
}

/// Replaces the content of an element by one text. An empty element stays empty: the first child's node is reused.
fn set_text(nodes: &mut [GrowingNode], id: u32, words: &str) {
    if let Some(&first) = clear(nodes, id).first() {
        let node = &mut nodes[first as usize];
        (node.data, node.first, node.last) = (Data::Text(words.into()), NONE, NONE);
        append(nodes, id, first);
    }
}
