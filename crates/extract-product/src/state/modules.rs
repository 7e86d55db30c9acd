//! The run parameters of marketplaces, which spread a product over modules.

use super::keys;
use super::reader::Reader;
use crate::draft::{Codes, Draft, VariantDraft};
use crate::money;
use crate::value::Value;
use crate::words;

/// Nesting in which the modules are looked for.
const MAX_LEVELS: usize = 4;

/// Returns the product of modules such as `titleModule` and `priceModule` (AliExpress, before 2023) or
/// `productInfoComponent` and `priceComponent` (since then).
pub(super) fn product(reader: &Reader<'_>, value: &Value<'_>) -> Option<Draft> {
    let modules = holder(value, MAX_LEVELS)?;
    let module = |names: &[&str]| keys::get(modules, names);
    let title = module(&["titlemodule", "productinfocomponent"])?;
    let price = module(&["pricemodule", "pricecomponent"])?;
    let common = module(&["commonmodule", "currencycomponent", "webgeneralfreightcalculatecomponent"]);
    let currency =
        common.and_then(|common| reader.text(common, keys::CURRENCY)).and_then(|text| money::currency_of(&text));
    let reader = Reader { currency: currency.or(reader.currency), ..*reader };
    let of_price = |names: &[&str]| names.iter().find_map(|name| reader.price(keys::get(price, &[name])?));
    let line = VariantDraft {
        price: of_price(&[
            "minactivityamount",
            "discountprice",
            "formatedactivityprice",
            "minamount",
            "origprice",
            "formatedprice",
        ]),
        original: of_price(&["minamount", "formatedprice", "origprice"]),
        ..VariantDraft::default()
    };
    let id =
        [common, Some(title)].into_iter().flatten().find_map(|one| reader.text(one, &["productid", "idstr", "id"]));
    let draft = Draft {
        title: reader.text(title, &["subject", "title"]).and_then(|text| words::name(&text)),
        codes: Codes { id: id.and_then(|text| words::code(&text)), ..Codes::default() },
        images: module(&["imagemodule", "imagecomponent"]).map(|images| list(&reader, images)).unwrap_or_default(),
        variants: vec![line],
        ..Draft::default()
    };
    draft.has_price().then_some(draft)
}

fn list(reader: &Reader<'_>, images: &Value<'_>) -> Vec<wire::Picture> {
    let paths = keys::get(images, &["imagepathlist", "imagelist"]).cloned().unwrap_or_default();
    let member = crate::value::Member { name: "images".into(), value: paths };
    reader.images(&Value::Object(vec![member]))
}

/// Returns the object that has the modules as its members.
fn holder<'v, 'p>(value: &'v Value<'p>, levels: usize) -> Option<&'v Value<'p>> {
    if keys::get(value, &["titlemodule", "productinfocomponent"]).is_some() {
        return Some(value);
    }
    let inner = || value.members().iter().take(200).filter_map(|member| holder(&member.value, levels - 1));
    (levels > 0).then(|| inner().next()).flatten()
}
