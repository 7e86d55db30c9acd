//! Whether two drafts describe the same product.

use crate::draft::{Codes, Draft};
use crate::words::Words;

/// Whether two drafts are the same product or two variants of one.
pub(super) fn is_same(a: &Draft, b: &Draft) -> bool {
    if shares_code(&a.codes, &b.codes) {
        return true;
    }
    let (first, second) = (Words::of(a.title.as_deref().unwrap_or("")), Words::of(b.title.as_deref().unwrap_or("")));
    if first.len() == 0 || second.len() == 0 {
        return a.url.is_some() && a.url == b.url;
    }
    if first.contradicts(&second) {
        return false;
    }
    let common = first.common(&second) as f64;
    // Three of four words, so that a size or a colour may differ. Models and numbers may not: see `contradicts`.
    common / first.len().max(second.len()) as f64 >= 0.75
}

fn shares_code(a: &Codes, b: &Codes) -> bool {
    let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
    same(&a.gtin, &b.gtin) || same(&a.sku, &b.sku) || same(&a.id, &b.id)
}
