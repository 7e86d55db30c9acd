//! Tabs: every panel is written below the label of its tab, and the row of labels is left out.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use page::{Index, Page, local_name};

use super::Writer;
use super::event::Mark;
use crate::content::Content;
use crate::elements::is_short;
use crate::marks::{is_row_of_tabs, shown_text};

/// Number of ancestors of a row of tabs that are searched for its panels.
const AROUND: usize = 3;
/// Limit on the nodes of a tab label.
const MAX_LABEL: usize = 60;
/// Limit on the text of a tab label, in bytes.
const MAX_TEXT: usize = 200;
/// Number of nodes at the start of a panel that are searched for a repeated label.
const MAX_LEAD: usize = 20;
/// Numbers from here on are names (years), not counts of panels.
const MAX_COUNT: u32 = 100;

/// The tabs of a page, paired with their panels.
#[derive(Debug, Default)]
pub(super) struct Tabs {
    /// The tab of each panel.
    labels: HashMap<Index, Index>,
    /// Rows of tabs that have panels.
    rows: HashSet<Index>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TabRole {
    Row,
    Tab,
    Panel,
}

/// A row of tabs.
#[derive(Debug)]
struct Row {
    index: Index,
    tabs: Vec<Index>,
}

/// Rows of tabs and panels, in document order.
#[derive(Debug, Default)]
struct TabParts {
    rows: Vec<Row>,
    panels: Vec<Index>,
}

impl Tabs {
    /// Whether the page has no rows of tabs with panels.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Finds the tabs of the page; most pages have none.
    pub(super) fn of(content: &Content) -> Tabs {
        let page = content.page();
        let mut tabs = Tabs::default();
        if !content.has_tabs() {
            return tabs;
        }
        let mut found = find(page);
        let is_row = |row: &Row| {
            // An element that contains panels too is not a row of labels.
            after(&found.panels, row.index).first().is_none_or(|panel| *panel >= page.end(row.index))
                && row.tabs.iter().all(|tab| is_label(page, *tab))
        };
        found.rows = std::mem::take(&mut found.rows).into_iter().filter(is_row).collect();
        if !found.rows.is_empty() && !found.panels.is_empty() {
            tabs.pair_by_name(page, &found);
            found.rows.iter().for_each(|row| tabs.pair_by_order(page, row, &found.panels));
        }
        tabs
    }

    /// Pairs tabs and panels that refer to each other by id.
    fn pair_by_name(&mut self, page: &Page, found: &TabParts) {
        let names = found.panels.iter().filter_map(|&panel| Some((page.attr(panel, "id")?.to_string(), panel)));
        let panels: HashMap<String, Index> = names.collect();
        let mut tabs: HashMap<String, (Index, Index)> = HashMap::new();
        for row in &found.rows {
            for &tab in &row.tabs {
                tabs.extend(page.attr(tab, "id").map(|id| (id.to_string(), (tab, row.index))));
                let named = page.attr(tab, "aria-controls").and_then(|id| panels.get(&*id));
                let link = || page.attr(tab, "href").and_then(|href| panels.get(href.strip_prefix('#')?));
                if let Some(&panel) = named.or_else(link) {
                    self.rows.insert(row.index);
                    let label = self.labels.entry(panel).or_insert(tab);
                    // Several tabs may share one panel.
                    if is_selected(page, tab) {
                        *label = tab;
                    }
                }
            }
        }
        for &panel in &found.panels {
            if let Some(&(tab, row)) = page.attr(panel, "aria-labelledby").and_then(|id| tabs.get(&*id)) {
                self.rows.insert(row);
                self.labels.insert(panel, tab);
            }
        }
    }

    /// Pairs the tabs of a row without ids with the panels that follow it, in order.
    fn pair_by_order(&mut self, page: &Page, row: &Row, panels: &[Index]) {
        if self.rows.contains(&row.index) || row.tabs.is_empty() {
            return;
        }
        for around in page.ancestors(row.index).take(AROUND) {
            let found = self.panels_within(page, page.end(row.index)..page.end(around), panels, row.tabs.len());
            if found.is_empty() {
                continue;
            }
            if found.len() == row.tabs.len() {
                self.labels.extend(found.into_iter().zip(row.tabs.iter().copied()));
                self.rows.insert(row.index);
            } else if let (&[panel], Some(&tab)) = (&*found, row.tabs.iter().find(|tab| is_selected(page, **tab))) {
                // The page loads the other panels on demand.
                self.labels.insert(panel, tab);
                self.rows.insert(row.index);
            }
            return;
        }
    }

    /// Returns the outermost panels in a range of nodes that have no tab yet, at most one more than `most`.
    fn panels_within(&self, page: &Page, range: Range<Index>, panels: &[Index], most: usize) -> Vec<Index> {
        let mut found = Vec::new();
        let mut at = range.start;
        while let Some(&panel) = after(panels, at.saturating_sub(1)).first().filter(|panel| **panel < range.end) {
            if self.labels.contains_key(&panel) || found.len() > most {
                break;
            }
            found.push(panel);
            at = page.end(panel);
        }
        found
    }
}

/// Whether a tab is a short label in words, rather than a whole panel or only an image.
fn is_label(page: &Page, tab: Index) -> bool {
    let is_picture =
        || page.subtree(tab).any(|at| page.is(at, &local_name!("img"))) && shown_text(page, tab).is_empty();
    is_short(page, tab, MAX_LABEL, MAX_TEXT) && !is_picture()
}

fn is_selected(page: &Page, tab: Index) -> bool {
    page.attr(tab, "aria-selected").is_some_and(|said| &*said == "true")
}

/// Whether a label is only a count ("2", "Slide 2") or a sign. Years and versions are names.
fn is_count(label: &str) -> bool {
    let mut words = label.split_whitespace().filter(|word| word.contains(char::is_alphabetic));
    match words.next() {
        Some("Item" | "Page" | "Slide") => words.next().is_none() && label.ends_with(|c: char| c.is_ascii_digit()),
        Some(_) => false,
        None => label.trim().parse::<u32>().map_or(!label.contains(|c: char| c.is_ascii_digit()), |n| n < MAX_COUNT),
    }
}

/// Returns the members of `sorted` that are greater than `at`.
fn after(sorted: &[Index], at: Index) -> &[Index] {
    &sorted[sorted.partition_point(|index| *index <= at)..]
}

fn find(page: &Page) -> TabParts {
    let mut found = TabParts::default();
    for index in 0..page.node_count() {
        match part(page, index) {
            Some(TabRole::Row) => found.rows.push(Row { index, tabs: Vec::new() }),
            Some(TabRole::Tab) => {
                if let Some(row) = found.rows.last_mut().filter(|row| index < page.end(row.index)) {
                    row.tabs.push(index);
                }
            }
            Some(TabRole::Panel) => found.panels.push(index),
            None => {}
        }
    }
    found
}

/// Returns the part that an element is by its role, or by its class in MkDocs Material.
fn part(page: &Page, index: Index) -> Option<TabRole> {
    let element = page.element(index)?;
    if is_row_of_tabs(element) {
        return Some(TabRole::Row);
    }
    element.attrs.iter().find_map(|attribute| match (&attribute.name.local, &*attribute.value) {
        (&local_name!("role"), "tab") => Some(TabRole::Tab),
        (&local_name!("role"), "tabpanel") => Some(TabRole::Panel),
        (&local_name!("class"), class) if class.starts_with("tabbed-block") => Some(TabRole::Panel),
        (&local_name!("for"), _) => page
            .parent(index)
            .and_then(|above| page.element(above))
            .is_some_and(|above| above.attr("role").is_none() && is_row_of_tabs(above))
            .then_some(TabRole::Tab),
        _ => None,
    })
}

impl Writer<'_> {
    /// Whether an element is a row of tabs whose labels are written above their panels.
    pub(super) fn is_row_of_tabs(&self, index: Index) -> bool {
        self.tabs.rows.contains(&index)
    }

    /// Writes the label of a panel, if the element is a panel with one.
    pub(super) fn label_panel(&mut self, index: Index) {
        let Some(&tab) = self.tabs.labels.get(&index).filter(|_| !self.heading && !self.inline.in_link()) else {
            return;
        };
        if self.content.is_excluded(tab) {
            return;
        }
        let page = self.page;
        let label = shown_text(page, tab);
        let is_same = |text: &str| text.split_whitespace().eq(label.split_whitespace());
        let mut lead = page.subtree(index).take(MAX_LEAD).filter_map(|at| page.text(at));
        let is_repeated = lead.find(|text| !text.trim().is_empty()).is_some_and(is_same);
        if is_repeated || is_count(&label) {
            return;
        }
        self.boundary();
        let opened = self.inline.open(Mark::Strong, false);
        self.inline.text(&label);
        self.boundary();
        if opened {
            self.inline.close();
        }
    }
}
