//! The matcher's view of an element. Every access to the tree is charged to the page's budget, which bounds the cost of
//! any selector, however it nests and repeats.

use std::fmt;

use html5ever::{Namespace, local_name, ns};
use selectors::OpaqueElement;
use selectors::attr::{AttrSelectorOperation, AttrSelectorOperator, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::MatchingContext;
use selectors::matching::ElementSelectorFlags;

use super::dialect::{Dialect, Name, NoElement, Pseudo, Value};
use crate::page::{Index, Page};

/// Bytes of an attribute value that one step covers.
const BYTES: u64 = 8;
/// Steps charged per entry in the matcher's caches, which cost memory as well as time.
const REMEMBERED: u64 = 8;

/// The page, with the previous sibling element of each node; 0 (the document) where there is none.
pub(super) struct Tree<'p> {
    pub(super) page: &'p Page,
    before: Vec<u32>,
}

impl<'p> Tree<'p> {
    pub(super) fn new(page: &'p Page) -> Tree<'p> {
        let mut last = vec![0; page.node_count()];
        let mut before = vec![0; page.node_count()];
        for (index, before) in before.iter_mut().enumerate() {
            let Some(parent) = page.parent(index) else { continue };
            *before = last[parent];
            if page.element(index).is_some() {
                last[parent] = index as u32;
            }
        }
        Tree { page, before }
    }

    /// Positions of all elements.
    pub(super) fn elements(&self) -> Vec<Index> {
        self.page.positions().filter(|&index| self.page.element(index).is_some()).collect()
    }

    /// The element at `index`, if there is one.
    pub(super) fn element(&self, index: Index) -> Option<Element<'_>> {
        self.page.element(index).map(|data| Element { tree: self, index, data })
    }

    /// Whether the budget is spent or the stop signal is set.
    pub(super) fn is_over(&self) -> bool {
        !self.spend(1)
    }

    fn spend(&self, steps: u64) -> bool {
        self.page.steps().spend(steps, self.page.stop())
    }
}

/// An element of a page.
#[derive(Clone)]
pub(super) struct Element<'t> {
    tree: &'t Tree<'t>,
    index: Index,
    data: &'t dom_query::Element,
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "element {}", self.index)
    }
}

impl Element<'_> {
    /// Charges one element to the budget; false if it is spent.
    pub(super) fn is_affordable(&self) -> bool {
        self.tree.spend(1)
    }

    /// Returns the first element among the siblings from `from` up to `end`.
    fn first_from(&self, from: Index, end: Index) -> Option<Self> {
        let mut next = from;
        while next < end && self.tree.spend(1) {
            if let Some(element) = self.tree.element(next) {
                return Some(element);
            }
            next = self.tree.page.end(next);
        }
        None
    }

    /// Charges reading a value of `length` bytes `times` times; false if the budget is spent.
    fn may_read(&self, length: usize, times: u64) -> bool {
        self.tree.spend(1 + (length as u64).saturating_mul(times) / BYTES)
    }
}

impl selectors::Element for Element<'_> {
    type Impl = Dialect;

    fn opaque(&self) -> OpaqueElement {
        self.tree.spend(REMEMBERED);
        OpaqueElement::new(self.data)
    }

    fn parent_element(&self) -> Option<Self> {
        self.tree.page.parent(self.index).filter(|_| self.tree.spend(1)).and_then(|parent| self.tree.element(parent))
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let before = self.tree.before[self.index] as Index;
        if before > 0 && self.tree.spend(1) { self.tree.element(before) } else { None }
    }

    fn next_sibling_element(&self) -> Option<Self> {
        let page = self.tree.page;
        self.first_from(page.end(self.index), page.end(page.parent(self.index)?))
    }

    fn first_element_child(&self) -> Option<Self> {
        self.first_from(self.index + 1, self.tree.page.end(self.index))
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.data.name.ns == ns!(html)
    }

    fn has_local_name(&self, name: &Name) -> bool {
        self.tree.spend(1) && self.data.name.local == name.0
    }

    fn has_namespace(&self, namespace: &Namespace) -> bool {
        self.tree.spend(1) && self.data.name.ns == *namespace
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.tree.spend(1) && self.data.name == other.data.name
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&Namespace>,
        name: &Name,
        operation: &AttrSelectorOperation<&Value>,
    ) -> bool {
        self.may_read(self.data.attrs.len(), 1)
            && self.data.attrs.iter().any(|attribute| {
                let is_meant = match *namespace {
                    NamespaceConstraint::Specific(wanted) => *wanted == attribute.name.ns,
                    NamespaceConstraint::Any => true,
                };
                is_meant
                    && attribute.name.local == name.0
                    && self.may_read(attribute.value.len(), times_read(operation))
                    && operation.eval_str(&attribute.value)
            })
    }

    fn match_non_ts_pseudo_class(&self, pseudo: &Pseudo, _context: &mut MatchingContext<Dialect>) -> bool {
        match pseudo {
            Pseudo::Link => self.may_read(self.data.attrs.len(), 1) && self.data.is_link(),
            Pseudo::OnlyText => {
                let (page, first) = (self.tree.page, self.index + 1);
                let is_alone = first < page.end(self.index) && page.end(first) == page.end(self.index);
                let text = page.text(first).filter(|text| is_alone && self.may_read(text.len(), 1));
                text.is_some_and(|text| !text.trim().is_empty())
            }
            Pseudo::Never(_) => false,
        }
    }

    fn is_link(&self) -> bool {
        // The matcher asks this only for `:visited`.
        false
    }

    fn has_id(&self, id: &Name, case: CaseSensitivity) -> bool {
        let mut attributes = self.data.attrs.iter();
        self.may_read(self.data.attrs.len(), 1)
            && attributes.any(|a| a.name.local == local_name!("id") && case.eq(id.0.as_bytes(), a.value.as_bytes()))
    }

    fn has_class(&self, class: &Name, case: CaseSensitivity) -> bool {
        let is_class = |a: &&html5ever::Attribute| a.name.local == local_name!("class");
        self.may_read(self.data.attrs.len(), 1)
            && self.data.attrs.iter().find(is_class).is_some_and(|classes| {
                self.may_read(classes.value.len(), 1)
                    && classes.value.split_ascii_whitespace().any(|one| case.eq(class.0.as_bytes(), one.as_bytes()))
            })
    }

    fn is_empty(&self) -> bool {
        // White space does not count: Selectors Level 4.
        let page = self.tree.page;
        page.children(self.index).all(|child| {
            let text = page.text(child).filter(|text| self.may_read(text.len(), 1));
            text.is_some_and(|text| text.trim().is_empty())
        })
    }

    fn is_root(&self) -> bool {
        self.tree.page.parent(self.index) == Some(0)
    }

    fn apply_selector_flags(&self, _flags: ElementSelectorFlags) {}

    fn add_element_unique_hashes(&self, _filter: &mut BloomFilter) -> bool {
        false
    }

    // The rest is about shadow trees, which a static page does not have.

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn match_pseudo_element(&self, element: &NoElement, _context: &mut MatchingContext<Dialect>) -> bool {
        match *element {}
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_custom_state(&self, _name: &Name) -> bool {
        false
    }

    fn imported_part(&self, _name: &Name) -> Option<Name> {
        None
    }

    fn is_part(&self, _name: &Name) -> bool {
        false
    }
}

/// Number of reads per byte of a value: a case-insensitive substring search restarts at every byte.
fn times_read(operation: &AttrSelectorOperation<&Value>) -> u64 {
    match operation {
        AttrSelectorOperation::WithValue {
            operator: AttrSelectorOperator::Substring,
            case_sensitivity: CaseSensitivity::AsciiCaseInsensitive,
            value,
        } => value.as_ref().len() as u64,
        _ => 1,
    }
}
