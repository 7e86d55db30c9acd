//! Products of schema.org, from JSON-LD, microdata or RDFa.

mod offers;

use page::absolute;
use url::Url;
use wire::Picture;

use crate::draft::{Codes, Draft, VariantDraft};
use crate::json_ld::{Ids, Root, is_a, last_part};
use crate::microdata::NODE;
use crate::money::Style;
use crate::value::Value;
use crate::words;

/// Types of things that are sold.
const PRODUCTS: [&str; 11] = [
    "Product",
    "ProductGroup",
    "IndividualProduct",
    "ProductModel",
    "SomeProducts",
    "ProductCollection",
    "Vehicle",
    "Car",
    "Motorcycle",
    "BookSeries",
    "DietarySupplement",
];
/// Types that are products if they have an offer with a price.
const OFFERED: [&str; 7] =
    ["Book", "SoftwareApplication", "VideoGame", "MobileApplication", "Audiobook", "Movie", "MusicAlbum"];
/// Properties that lead to other things than the subject of the page.
const ASIDE: [&str; 22] = [
    "isRelatedTo",
    "isSimilarTo",
    "isAccessoryOrSparePartFor",
    "isConsumableFor",
    "itemListElement",
    "itemReviewed",
    "review",
    "reviews",
    "hasPart",
    "mentions",
    "makesOffer",
    "hasOfferCatalog",
    "recommendedProduct",
    "addOn",
    "includesObject",
    "citation",
    "relatedLink",
    "significantLink",
    "isVariantOf",
    "isPartOf",
    "publisher",
    "author",
];
/// Limit on the products of one page that are examined.
const MAX_PRODUCTS: usize = 400;
/// Limit on variants of a product.
pub(crate) const MAX_LINES: usize = 500;
/// Limit on pictures of a product.
const MAX_IMAGES: usize = 40;

/// The products of one syntax, and what else it says the page is.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// Products that may be the subject of the page.
    pub(crate) drafts: Vec<Draft>,
    /// Number of products in lists and beside the subject.
    pub(crate) listed: usize,
    /// Whether the page says it is an article, a recipe or a similar text.
    pub(crate) is_text: bool,
    /// Whether the page says it is a list of things.
    pub(crate) is_list: bool,
    /// Names of the breadcrumbs, from the first to the last.
    pub(crate) crumbs: Vec<String>,
}

/// Context for reading values.
pub(crate) struct Context<'v, 'p> {
    ids: Ids<'v, 'p>,
    style: Style,
    base: &'v Url,
}

/// Reads the products of `roots`.
pub(crate) fn read_products(roots: &[Root<'_>], style: Style, base: &Url) -> Schema {
    let context = Context { ids: Ids::of(roots.iter().map(|root| &root.value)), style, base };
    let mut schema = Schema::default();
    let mut orphans: Vec<&Value<'_>> = Vec::new();
    for root in roots {
        schema.add_kind(&root.value);
        if is_a(&root.value, &["Offer", "AggregateOffer"]) && root.value.get("itemOffered").is_null() {
            orphans.push(&root.value);
        }
        walk(&context, &root.value, false, &mut schema);
    }
    // An offer that its page placed outside of the only product.
    if let ([draft], [offer]) = (schema.drafts.as_mut_slice(), orphans.as_slice())
        && !draft.has_price()
    {
        draft.variants = context.lines_of_offers(&[offer]);
    }
    schema
}

impl Schema {
    fn add_kind(&mut self, root: &Value<'_>) {
        const TEXTS: [&str; 10] = [
            "Article",
            "NewsArticle",
            "BlogPosting",
            "TechArticle",
            "Report",
            "Recipe",
            "HowTo",
            "DiscussionForumPosting",
            "QAPage",
            "LiveBlogPosting",
        ];
        self.is_text |= is_a(root, &TEXTS);
        self.is_list |= is_a(root, &["CollectionPage", "SearchResultsPage", "ItemList", "OfferCatalog"])
            && root.get("itemListElement").items().len() != 1;
        if is_a(root, &["BreadcrumbList"]) && self.crumbs.is_empty() {
            let name = |item: &Value<'_>| {
                let name = [item.get("name"), item.get("item").get("name")].into_iter().find_map(Value::text);
                name.and_then(words::name)
            };
            self.crumbs = root.get("itemListElement").items().iter().take(12).filter_map(name).collect();
        }
    }
}

/// Collects the products below `value`.
fn walk<'v, 'p>(context: &Context<'v, 'p>, value: &'v Value<'p>, is_aside: bool, schema: &mut Schema) {
    match value {
        Value::List(items) => items.iter().for_each(|item| walk(context, item, is_aside, schema)),
        Value::Object(members) => {
            if is_product(value) {
                schema.listed += usize::from(is_aside);
                if !is_aside && schema.drafts.len() < MAX_PRODUCTS {
                    schema.drafts.push(context.draft(value));
                }
                return;
            }
            schema.add_kind(value);
            for member in members {
                let is_aside = is_aside || ASIDE.contains(&&*member.name);
                walk(context, &member.value, is_aside, schema);
            }
        }
        _ => {}
    }
}

fn is_product(value: &Value<'_>) -> bool {
    let known = is_a(value, &PRODUCTS) && !value.first_of(&["name", "offers", "sku"]).is_null();
    let offer = || value.get("offers").items().iter().any(|offer| !offer.first_of(&["price", "lowPrice"]).is_null());
    known || (is_a(value, &OFFERED) && offer())
}

impl<'v, 'p> Context<'v, 'p> {
    fn draft(&self, product: &'v Value<'p>) -> Draft {
        let group = self.first(product.get("isVariantOf"));
        let own_or_group = |names: &[&str]| {
            let own = self.first(product.first_of(names));
            if own.is_null() { self.first(group.first_of(names)) } else { own }
        };
        let name = self.name_of(product.get("name"));
        let mut draft = Draft {
            title: name.or_else(|| self.name_of(group.get("name"))),
            brand: self.name_of(own_or_group(&["brand"])).or_else(|| self.name_of(own_or_group(&["manufacturer"]))),
            category: self.category(product.get("category")),
            description: own_or_group(&["description"]).text().and_then(words::description),
            url: self.url(product),
            codes: self.codes(product),
            images: self.images(product.first_of(&["image", "images", "photo"])),
            variants: Vec::new(),
            node: product.get(NODE).text().and_then(|node| node.parse().ok()),
        };
        draft.variants = self.lines(product);
        draft
    }

    /// Follows references, and takes the first item of a list.
    fn first(&self, value: &'v Value<'p>) -> &'v Value<'p> {
        self.ids.resolve(value.items().iter().find(|item| !item.is_null()).unwrap_or(value))
    }

    /// Returns a text, or the name of a thing.
    fn name_of(&self, value: &'v Value<'p>) -> Option<String> {
        let value = self.first(value);
        let text = value.text().or_else(|| self.first(value.first_of(&["name", "@value", "title"])).text());
        text.filter(|text| !text.starts_with("http")).and_then(words::name)
    }

    fn category(&self, value: &'v Value<'p>) -> Option<String> {
        let all: Vec<String> = value.items().iter().filter_map(|item| self.name_of(item)).collect();
        all.into_iter().next_back()
    }

    fn url(&self, value: &'v Value<'p>) -> Option<String> {
        let link = self.first(value.first_of(&["url", "mainEntityOfPage"]));
        let id = value.get("@id").text().filter(|id| id.starts_with("http"));
        let link = link.text().or_else(|| link.get("@id").text()).or(id)?;
        absolute(self.base, link).filter(|url| matches!(url.scheme(), "http" | "https")).map(Into::into)
    }

    fn codes(&self, value: &'v Value<'p>) -> Codes {
        let code =
            |names: &[&str]| names.iter().find_map(|name| self.first(value.get(name)).text().and_then(words::code));
        Codes {
            sku: code(&["sku"]),
            gtin: code(&["gtin13", "gtin", "gtin12", "gtin14", "gtin8", "ean", "isbn"]).map(without_prefix),
            mpn: code(&["mpn"]),
            id: code(&["productID", "productId", "identifier"]).map(without_prefix).map(without_words),
        }
    }

    fn images(&self, value: &'v Value<'p>) -> Vec<Picture> {
        let picture = |item: &'v Value<'p>| {
            let item = self.ids.resolve(item);
            let link = item.text().or_else(|| self.first(item.first_of(&["contentUrl", "url", "@id"])).text())?;
            let url = absolute(self.base, link.trim()).filter(|url| matches!(url.scheme(), "http" | "https"))?;
            let alt = item.first_of(&["caption", "name"]).text().and_then(words::name);
            Some(Picture { url: url.into(), alt })
        };
        let mut all: Vec<Picture> = Vec::new();
        for image in value.items().iter().take(4 * MAX_IMAGES).filter_map(picture) {
            if all.len() < MAX_IMAGES && !all.iter().any(|other| other.url == image.url) {
                all.push(image);
            }
        }
        all
    }

    /// Returns what can be bought: the variants of a group, else the offers.
    fn lines(&self, product: &'v Value<'p>) -> Vec<VariantDraft> {
        let variants = product.first_of(&["hasVariant", "model"]).items();
        let variants = variants.iter().map(|variant| self.ids.resolve(variant)).filter(|variant| variant.is_object());
        let lines: Vec<VariantDraft> = variants.take(MAX_LINES).filter_map(|variant| self.variant(variant)).collect();
        if lines.is_empty() { self.lines_of_offers(&self.offers(product)) } else { lines }
    }

    fn variant(&self, variant: &'v Value<'p>) -> Option<VariantDraft> {
        let mut line = self.lines_of_offers(&self.offers(variant)).into_iter().next()?;
        line.title = self.name_of(variant.get("name"));
        let codes = self.codes(variant);
        let offered = std::mem::replace(&mut line.codes, codes);
        line.codes.complete(&offered);
        line.images = self.images(variant.get("image"));
        line.url = self.url(variant).or(line.url);
        line.values = self.values(variant);
        Some(line)
    }

    /// Returns the option values of a variant.
    fn values(&self, variant: &'v Value<'p>) -> std::collections::BTreeMap<String, String> {
        const OPTIONS: [&str; 5] = ["color", "size", "material", "pattern", "suggestedAge"];
        let named = OPTIONS.iter().filter_map(|name| Some(((*name).to_owned(), self.name_of(variant.get(name))?)));
        let more =
            variant.get("additionalProperty").items().iter().filter_map(|property| {
                Some((self.name_of(property.get("name"))?, self.name_of(property.get("value"))?))
            });
        named.chain(more.take(12)).collect()
    }
}

/// Removes `sku:`, `gtin13:` and the like, which the vocabulary allows before an identifier.
fn without_prefix(code: String) -> String {
    let prefix = code.split_once(':').filter(|pair| pair.0.chars().all(|c| c.is_ascii_alphanumeric()));
    prefix.map(|pair| pair.1.trim().to_owned()).filter(|rest| !rest.is_empty()).unwrap_or(code)
}

/// Removes the words behind an identifier: `12-A Kettles`.
fn without_words(code: String) -> String {
    let parts = code
        .split_once(' ')
        .filter(|(first, rest)| first.bytes().any(|b| b.is_ascii_digit()) && !rest.bytes().any(|b| b.is_ascii_digit()));
    parts.map(|pair| pair.0.to_owned()).unwrap_or(code)
}

/// Returns whether a term of schema.org, or a word like it, says that a thing can be bought.
pub(crate) fn in_stock(term: &str) -> Option<bool> {
    let term: String = last_part(term).chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
    match term.as_str() {
        "instock"
        | "limitedavailability"
        | "onlineonly"
        | "instoreonly"
        | "preorder"
        | "presale"
        | "backorder"
        | "madetoorder"
        | "available"
        | "availablefororder"
        | "limited"
        | "lowstock"
        | "onstock"
        | "true"
        | "yes"
        | "1" => Some(true),
        "outofstock" | "soldout" | "discontinued" | "unavailable" | "notavailable" | "oos" | "false" | "no"
        | "pending" => Some(false),
        _ => None,
    }
}
