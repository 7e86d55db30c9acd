//! Microdata and RDFa, read into the same form as JSON-LD.

use std::borrow::Cow;
use std::collections::HashMap;

use page::{Index, Page, absolute, local_name};

use crate::json_ld::{Root, last_part};
use crate::lenient::Budget;
use crate::tags::{attribute, text};
use crate::value::{Member, Value};

/// Member that holds the element of an item, as a number.
pub(crate) const NODE: &str = "@node";
/// Limit on the text of one property, in bytes.
const MAX_TEXT: usize = 20_000;
/// Vocabularies of `<meta property>` that describe the page for others: no properties of an item.
const OTHER_VOCABULARIES: [&str; 8] = ["og:", "fb:", "product:", "article:", "twitter:", "al:", "music:", "dc:"];

/// An item whose element is still open.
struct OpenItem<'p> {
    node: Index,
    /// Names of the property of the outer item that this item is the value of.
    property: Option<&'p str>,
    members: Vec<Member<'p>>,
}

/// Reads the items of the page that are no property of another item. Members are named as in JSON-LD: `@type`, `@id`,
/// then the properties; a property that occurs several times is a list.
pub(crate) fn read_items<'p>(page: &'p Page, budget: &mut Budget<'_>) -> Vec<Root<'p>> {
    let mut reader = Reader { page, open: Vec::new(), roots: Vec::new() };
    for node in page.positions() {
        reader.close(node);
        if page.element(node).is_some_and(|element| !element.attrs.is_empty()) && reader.add(node, budget).is_none() {
            break;
        }
    }
    reader.close(page.node_count());
    reader.roots
}

struct Reader<'p> {
    page: &'p Page,
    open: Vec<OpenItem<'p>>,
    roots: Vec<Root<'p>>,
}

impl<'p> Reader<'p> {
    /// Ends the items whose elements end before `node`.
    fn close(&mut self, node: Index) {
        while self.open.last().is_some_and(|open| self.page.end(open.node) <= node) {
            let Some(done) = self.open.pop() else { return };
            let value = Value::Object(grouped(done.members));
            match (done.property, self.open.last_mut()) {
                (Some(names), Some(outer)) => add_property(outer, names, value),
                _ => self.roots.push(Root { value }),
            }
        }
    }

    /// Adds an element; `None` once the budget is spent.
    fn add(&mut self, node: Index, budget: &mut Budget<'_>) -> Option<()> {
        let mut marks = Marks::default();
        for attribute in &self.page.element(node)?.attrs {
            marks.add(&attribute.name.local, &attribute.value);
        }
        let property = marks.property.filter(|name| !OTHER_VOCABULARIES.iter().any(|other| name.starts_with(other)));
        if let Some(kind) = marks.kind {
            budget.take_node()?;
            self.open.push(OpenItem { node, property, members: head(kind, marks.id, node) });
        } else if let (Some(names), Some(_)) = (property, self.open.last()) {
            budget.take_node()?;
            let value = self.value(node);
            budget.take_bytes(value.len() + 1)?;
            if let Some(outer) = self.open.last_mut() {
                add_property(outer, names, Value::Text(value));
            }
        }
        Some(())
    }

    /// Returns the value of a property that is not an item.
    fn value(&self, node: Index) -> Cow<'p, str> {
        let of = |name| attribute(self.page, node, name);
        let link = |name| {
            let link = of(name)?;
            Some(absolute(self.page.base(), link).map_or(Cow::Borrowed(link), |url| Cow::Owned(url.into())))
        };
        if let Some(content) = of("content") {
            return Cow::Borrowed(content);
        }
        let by_name = match *self.page.name(node).unwrap_or(&local_name!("")) {
            local_name!("img") => link("src").filter(|src| !page::is_embedded(src)).or_else(|| link("data-src")),
            local_name!("audio") | local_name!("embed") | local_name!("iframe") | local_name!("video") => link("src"),
            local_name!("a") if self.is_name_or_text(node) => None,
            local_name!("a") | local_name!("area") | local_name!("link") => link("href"),
            local_name!("object") => link("data"),
            local_name!("data") | local_name!("meter") => of("value").map(Cow::Borrowed),
            local_name!("time") => of("datetime").map(Cow::Borrowed),
            _ => of("resource").map(Cow::Borrowed),
        };
        by_name.unwrap_or_else(|| {
            let mut text = text(self.page, node);
            text.truncate(text.floor_char_boundary(MAX_TEXT));
            Cow::Owned(text)
        })
    }

    /// Whether a link is read by its text: `<a itemprop="brand" href="/brands/acme">Acme</a>`, which the standard reads
    /// as a URL and no page means so.
    fn is_name_or_text(&self, node: Index) -> bool {
        let of = |name| attribute(self.page, node, name);
        let names = of("itemprop").or(of("property")).unwrap_or_default();
        names.split_ascii_whitespace().map(last_part).any(|name| {
            matches!(name, "name" | "brand" | "manufacturer" | "category" | "title" | "sku" | "mpn" | "model" | "color")
        })
    }
}

/// The attributes of an element that make it an item or a property.
#[derive(Default)]
struct Marks<'p> {
    kind: Option<&'p str>,
    property: Option<&'p str>,
    id: Option<&'p str>,
}

impl<'p> Marks<'p> {
    fn add(&mut self, name: &str, value: &'p str) {
        match name {
            "itemscope" => self.kind = self.kind.or(Some("")),
            "itemtype" | "typeof" => self.kind = Some(value),
            "itemprop" | "property" => self.property = Some(value).filter(|value| !value.is_empty()),
            "itemid" | "resource" | "about" => self.id = Some(value),
            _ => {}
        }
    }
}

fn head<'p>(kind: &'p str, id: Option<&'p str>, node: Index) -> Vec<Member<'p>> {
    let kinds: Vec<_> = kind.split_ascii_whitespace().map(|kind| Value::Text(Cow::Borrowed(kind))).collect();
    let member = |name, value| Member { name: Cow::Borrowed(name), value };
    let mut members =
        vec![member("@type", Value::List(kinds)), member(NODE, Value::Number(Cow::Owned(node.to_string())))];
    members.extend(id.map(|id| member("@id", Value::Text(Cow::Borrowed(id)))));
    members
}

fn add_property<'p>(outer: &mut OpenItem<'p>, names: &'p str, value: Value<'p>) {
    let mut names = names.split_ascii_whitespace().map(renamed);
    let Some(first) = names.next() else { return };
    for name in names {
        outer.members.push(Member { name: Cow::Borrowed(name), value: value.clone() });
    }
    outer.members.push(Member { name: Cow::Borrowed(first), value });
}

/// Returns the name in schema.org of a property of RDFa, which may have a prefix or be one of GoodRelations.
fn renamed(name: &str) -> &str {
    match last_part(name) {
        "hasCurrencyValue" => "price",
        "hasCurrency" => "priceCurrency",
        "hasPriceSpecification" => "priceSpecification",
        "hasStockKeepingUnit" => "sku",
        "hasEAN_UCC-13" => "gtin13",
        "hasMPN" => "mpn",
        "hasBrand" | "hasManufacturer" => "brand",
        name => name,
    }
}

/// Makes one list of the members that have the same name.
fn grouped(members: Vec<Member<'_>>) -> Vec<Member<'_>> {
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut out: Vec<Member<'_>> = Vec::with_capacity(members.len());
    for member in members {
        let Some(&place) = places.get(&member.name) else {
            places.insert(member.name.clone(), out.len());
            out.push(member);
            continue;
        };
        match &mut out[place].value {
            Value::List(items) => items.push(member.value),
            one => *one = Value::List(vec![std::mem::take(one), member.value]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use base::Stop;
    use serde_json::json;
    use url::Url;

    use super::*;

    fn items(html: &str) -> serde_json::Value {
        let page = Page::parse(html, &Url::parse("https://a.test/p").unwrap());
        let stop = Stop::new();
        let mut roots: Vec<_> =
            read_items(&page, &mut Budget::new(&stop)).iter().map(|root| root.value.json()).collect();
        roots.iter_mut().for_each(remove_nodes);
        roots.into()
    }

    fn remove_nodes(value: &mut serde_json::Value) {
        if let Some(object) = value.as_object_mut() {
            object.remove(NODE);
            object.values_mut().for_each(remove_nodes);
        }
        value.as_array_mut().into_iter().flatten().for_each(remove_nodes);
    }

    #[test]
    fn microdata_items() {
        let html = "<div itemscope itemtype='https://schema.org/Product'><h1 itemprop=name>A  kettle</h1>
            <img itemprop=image src=/1.jpg><img itemprop=image src=/2.jpg><a itemprop=brand href=/b>Acme</a>
            <p itemprop=offers itemscope itemtype='http://schema.org/Offer'><meta itemprop=price content=12>
            <link itemprop=availability href='https://schema.org/InStock'></p></div>";
        let expect = json!([{
            "@type": ["https://schema.org/Product"], "name": "A kettle", "brand": "Acme",
            "image": ["https://a.test/1.jpg", "https://a.test/2.jpg"],
            "offers": {"@type": ["http://schema.org/Offer"], "price": "12", "availability": "https://schema.org/InStock"},
        }]);
        assert_eq!(items(html), expect);
    }

    #[test]
    fn rdfa_items() {
        let html = "<meta property='og:title' content=x><div vocab='https://schema.org/' typeof=Product resource='#p'>
            <b property=name>A</b><i property='schema:offers' typeof='schema:Offer'><u property=gr:hasCurrencyValue>3</u></i></div>";
        let expect = json!([{
            "@type": ["Product"], "@id": "#p", "name": "A", "offers": {"@type": ["schema:Offer"], "price": "3"},
        }]);
        assert_eq!(items(html), expect);
    }

    #[test]
    fn items_without_an_outer_one_are_roots() {
        let html = "<p itemprop=offers itemscope itemtype=Offer><b itemprop=price>1</b></p><i itemprop=sku>2</i>";
        assert_eq!(items(html), json!([{"@type": ["Offer"], "price": "1"}]));
    }
}
