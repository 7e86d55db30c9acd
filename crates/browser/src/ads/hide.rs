//! Hides elements of advertisements and consent notices whose requests were blocked, or that belong to the page itself.

use std::collections::HashSet;

use cdp::CdpError;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Rules, start};
use crate::tab::{Tab, World};

/// Maximum number of names that are collected and of selectors that are applied.
const MAX_NAMES: usize = 5000;

/// Function that collects class names and ids of the page, except those too long for a rule.
const NAMES: &str = "(most) => {
    const classes = new Set(), ids = new Set();
    for (const element of document.querySelectorAll('[class], [id]')) {
        if (element.id && element.id.length < 256 && ids.size < most) ids.add(element.id);
        for (const name of element.classList) if (name.length < 256 && classes.size < most) classes.add(name);
    }
    return [[...classes], [...ids]];
}";

/// Function that hides the matches of selectors and re-enables scrolling that such a layer has blocked. Returns whether
/// any matched.
const HIDE: &str = "(selectors) => {
    const known = selectors.filter((selector) => { try { return document.querySelector(selector); } catch { return false; } });
    if (!known.length) return false;
    const sheet = new CSSStyleSheet();
    for (const selector of known) sheet.insertRule(selector + ' { display: none !important }');
    for (const root of [document.documentElement, document.body]) {
        if (root && ['hidden', 'clip'].includes(getComputedStyle(root).overflowY)) {
            sheet.insertRule(root.localName + ' { overflow: auto !important; position: static !important }');
        }
    }
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return true;
}";

/// Function that hides consent notices that no rule covers. Returns their number.
const CONSENT: &str = include_str!("../js/consent.js");

impl Rules {
    /// Hides advertisements and consent notices on the page as it is now. Returns whether there were any.
    ///
    /// # Errors
    /// Errors of [`Tab::evaluate`].
    pub(crate) async fn hide(&self, tab: &Tab, until: Instant) -> Result<bool, CdpError> {
        let names = tab.evaluate(World::Own, NAMES, &[MAX_NAMES.into()], until).await?;
        let list = |at: usize| -> Vec<String> { serde_json::from_value(names[at].clone()).unwrap_or_default() };
        let own = self.0.url_cosmetic_resources(start(&tab.document().url));
        let mut selectors: HashSet<String> = own.hide_selectors;
        if !own.generichide {
            selectors.extend(self.0.hidden_class_id_selectors(list(0), list(1), &own.exceptions));
        }
        let selectors: Vec<Value> = selectors.into_iter().take(MAX_NAMES).map(Value::from).collect();
        let is_known =
            !selectors.is_empty() && tab.evaluate(World::Own, HIDE, &[json!(selectors)], until).await? == true;
        let asking = tab.evaluate(World::Own, CONSENT, &[], until).await?;
        Ok(is_known || asking.as_u64().is_some_and(|count| count > 0))
    }
}
