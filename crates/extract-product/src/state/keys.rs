//! The names that shops give to the fields of a product.

use crate::value::Value;

pub(super) const TITLE: &[&str] = &[
    "name",
    "title",
    "productname",
    "producttitle",
    "itemname",
    "displayname",
    "prodname",
    "contentname",
    "subject",
    "articlename",
    "productdisplayname",
];
pub(super) const PRICE: &[&str] = &[
    "saleprice",
    "salesprice",
    "finalprice",
    "specialprice",
    "currentprice",
    "sellingprice",
    "displayprice",
    "offerprice",
    "promoprice",
    "actualprice",
    "price",
    "itemprice",
    "productprice",
    "priceamount",
    "pricevalue",
    "ourprice",
    "lowprice",
    "minprice",
    "pricemin",
    "priceinclvat",
    "priceincltax",
    "grossprice",
    "unitprice",
    "pricerange",
    "prices",
    "pricing",
    "priceinfo",
    "productpriceamount",
    "priceincents",
];
pub(super) const FORMER: &[&str] = &[
    "compareatprice",
    "originalprice",
    "listprice",
    "regularprice",
    "oldprice",
    "wasprice",
    "displayregularprice",
    "msrp",
    "rrp",
    "strikethroughprice",
    "pricebeforediscount",
    "fullprice",
    "retailprice",
    "pricewas",
    "recommendedretailprice",
];
pub(super) const CURRENCY: &[&str] =
    &["currency", "currencycode", "pricecurrency", "productcurrency", "currencyiso", "currencyisocode"];
pub(super) const SKU: &[&str] =
    &["sku", "productsku", "itemsku", "skucode", "articlenumber", "articleno", "itemnumber"];
pub(super) const ID: &[&str] =
    &["id", "productid", "itemid", "prodid", "variationid", "variantid", "contentid", "skuid", "code"];
pub(super) const GTIN: &[&str] = &["gtin", "gtin13", "gtin14", "ean", "ean13", "upc", "barcode", "isbn", "productean"];
pub(super) const MPN: &[&str] = &["mpn", "manufacturerpartnumber", "partnumber", "modelnumber", "manufacturernumber"];
pub(super) const BRAND: &[&str] =
    &["brand", "brandname", "itembrand", "productbrand", "manufacturer", "manufacturername", "vendor", "brandtitle"];
pub(super) const CATEGORY: &[&str] =
    &["category", "itemcategory", "productcategory", "categoryname", "producttype", "type"];
pub(super) const URL: &[&str] = &["url", "producturl", "canonicalurl", "link", "onlinestoreurl", "pdpurl"];
pub(super) const IMAGE: &[&str] =
    &["image", "images", "imageurl", "featuredimage", "img", "media", "thumbnail", "productimage", "picture"];
pub(super) const DESCRIPTION: &[&str] =
    &["description", "longdescription", "shortdescription", "bodyhtml", "descriptionhtml"];
pub(super) const VARIANTS: &[&str] = &["variants", "variations", "skus", "productvariants", "variantlist", "children"];
/// Members that say that there is something left.
pub(super) const IN_STOCK: &[&str] = &[
    "availability",
    "instock",
    "isinstock",
    "available",
    "availableforsale",
    "isavailable",
    "stockstatus",
    "purchasable",
    "availabilitystatus",
    "productavailability",
];
/// Members that say that there is nothing left.
pub(super) const OUT_OF_STOCK: &[&str] = &["issoldout", "soldout", "outofstock", "isoutofstock"];
/// Members of an object that is a price.
pub(super) const AMOUNT: &[&str] = &[
    "finalprice",
    "saleprice",
    "sale",
    "current",
    "now",
    "special",
    "selling",
    "discounted",
    "amount",
    "value",
    "price",
    "minvariantprice",
    "min",
    "raw",
    "gross",
    "centamount",
    "formatted",
    "displayprice",
    "baseprice",
    "list",
    "default",
    "minactivityamount",
    "minamount",
    "minimumprice",
    "minprice",
];

/// Whether two names are the same without case, `_`, `-` and blanks; `key` is written without them.
pub(super) fn is(name: &str, key: &str) -> bool {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_lowercase());
    name.len() >= key.len() && letters.eq(key.bytes())
}

/// Returns the first member with one of the names, in their order, that is neither null nor an empty text.
pub(super) fn get<'v, 'p>(value: &'v Value<'p>, names: &[&str]) -> Option<&'v Value<'p>> {
    let members = value.members();
    if members.len() > 2000 {
        return None;
    }
    names.iter().find_map(|key| {
        members.iter().find(|member| is(&member.name, key) && !is_empty(&member.value)).map(|member| &member.value)
    })
}

fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.trim().is_empty(),
        Value::List(items) => items.is_empty(),
        _ => false,
    }
}
