//! The parts of a page that do not belong to its main product.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use page::{Index, Page, local_name};

use crate::tags::attribute;

/// Parts of classes and ids that shops give to blocks of other products, to chrome and to texts about the order.
const ASIDE: [&str; 46] = [
    "related",
    "recommend",
    "similar",
    "upsell",
    "up-sell",
    "crosssell",
    "cross-sell",
    "cross_sell",
    "recently",
    "viewed",
    "sponsor",
    "-also-",
    "alsobought",
    "also-bought",
    "bundle",
    "accessor",
    "minicart",
    "mini-cart",
    "mini_cart",
    "cart-drawer",
    "footer",
    "newsletter",
    "carousel",
    "swiper",
    "slider",
    "shipping",
    "installment",
    "instalment",
    "financ",
    "reviews",
    "comments",
    "breadcrumb",
    "navigation",
    "navbar",
    "megamenu",
    "mega-menu",
    "advert",
    "compare",
    "cookie",
    "other-product",
    "more-product",
    "suggest",
    "sims-",
    "refine",
    "facet",
    "filters",
];

/// The nodes that belong to the main product, as far as its markup says so.
pub(crate) struct Zones {
    /// Whether a node is outside.
    outside: Vec<bool>,
}

impl Zones {
    /// Finds the zones of a page. What contains its heading is never outside.
    pub(crate) fn of(page: &Page, heading: Option<Index>) -> Zones {
        let mut outside = vec![false; page.node_count()];
        let mut at = 0;
        while at < page.node_count() && !page.stop().is_set() {
            let holds_heading = heading.is_some_and(|heading| page.subtree(at).contains(&heading));
            if !holds_heading && is_aside(page, at) {
                outside[page.subtree(at)].fill(true);
                at = page.end(at);
            } else {
                at += 1;
            }
        }
        Zones { outside }
    }

    pub(crate) fn is_outside(&self, node: Index) -> bool {
        self.outside[node]
    }

    /// Returns the nodes of the main product in document order.
    pub(crate) fn nodes<'z>(&'z self, page: &'z Page) -> impl Iterator<Item = Index> + 'z {
        page.positions().filter(|&node| !self.is_outside(node))
    }
}

fn is_aside(page: &Page, node: Index) -> bool {
    static WORDS: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(ASIDE).ok());
    let Some(name) = page.name(node) else { return false };
    let by_name = matches!(
        *name,
        local_name!("nav")
            | local_name!("footer")
            | local_name!("script")
            | local_name!("style")
            | local_name!("noscript")
            | local_name!("template")
            | local_name!("svg")
            | local_name!("head")
    );
    let of = |name| attribute(page, node, name);
    let marked = || {
        let marks = [of("class"), of("id")];
        marks.into_iter().flatten().any(|mark| WORDS.as_ref().is_some_and(|words| words.is_match(mark)))
    };
    let hidden =
        || of("hidden").is_some() || of("style").is_some_and(|style| style.replace(' ', "").contains("display:none"));
    by_name || hidden() || (*name != local_name!("body") && *name != local_name!("html") && marked())
}
