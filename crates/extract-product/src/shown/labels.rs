//! Codes and brands that stand behind a label: `SKU: 12-A`, `<dt>Marke<dd>Acme`.

use page::{Index, Page};

use super::Zones;
use crate::tags::squeezed;
use crate::words;

/// Limit on the text that may be a label with its value, in bytes.
const MAX_TEXT: usize = 120;
/// Nodes after a label that are examined for its value.
const MAX_GAP: usize = 14;

/// Labels of article numbers, best first.
const SKU: [&str; 66] = [
    "asin",
    "sku",
    "item number",
    "item no",
    "item code",
    "item #",
    "item",
    "article number",
    "article no",
    "product code",
    "product number",
    "product id",
    "product no",
    "stock code",
    "part number",
    "catalogue number",
    "artikelnummer",
    "artikel-nr",
    "artikelnr",
    "art.-nr",
    "art. nr",
    "art.nr",
    "bestellnummer",
    "bestell-nr",
    "produktnummer",
    "référence",
    "reference",
    "réf",
    "ref",
    "ref no",
    "referencia",
    "referência",
    "código",
    "código do produto",
    "codigo",
    "cod",
    "cód",
    "codice",
    "codice articolo",
    "codice prodotto",
    "kod",
    "kod produktu",
    "nr katalogowy",
    "kód",
    "kód produktu",
    "kód zboží",
    "kód tovaru",
    "číslo produktu",
    "katalogové číslo",
    "objednávací kód",
    "šifra",
    "šifra artikla",
    "šifra izdelka",
    "šifra proizvoda",
    "cikkszám",
    "cod produs",
    "код",
    "код товара",
    "артикул",
    "tootekood",
    "preces kods",
    "prekės kodas",
    "ürün kodu",
    "varenummer",
    "tuotenumero",
    "商品番号",
];
const BRAND: [&str; 40] = [
    "brand",
    "brand name",
    "marke",
    "marque",
    "marca",
    "merk",
    "značka",
    "znamka",
    "blagovna znamka",
    "marka",
    "бренд",
    "hersteller",
    "fabricant",
    "fabbricante",
    "manufacturer",
    "producent",
    "výrobce",
    "výrobca",
    "proizvajalec",
    "proizvođač",
    "производитель",
    "märke",
    "mærke",
    "merke",
    "merkki",
    "tootja",
    "bränd",
    "kaubamärk",
    "ražotājs",
    "zīmols",
    "gamintojas",
    "prekės ženklas",
    "brend",
    "márka",
    "gyártó",
    "producător",
    "العلامة التجارية",
    "الماركة",
    "ブランド",
    "品牌",
];
const MPN: [&str; 12] = [
    "mpn",
    "manufacturer part number",
    "manufacturer number",
    "model number",
    "item model number",
    "model",
    "herstellernummer",
    "part no",
    "kód výrobce",
    "kód výrobcu",
    "part number",
    "modell",
];

/// Values of the labels of a page.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Labels {
    pub(crate) sku: Option<String>,
    pub(crate) brand: Option<String>,
    pub(crate) mpn: Option<String>,
}

/// Reads the labels. Those behind the heading count before those ahead of it.
pub(super) fn read_labels(page: &Page, zones: &Zones, heading: Option<Index>) -> Labels {
    let mut sku: Option<(usize, String)> = None;
    let mut labels = Labels::default();
    for node in zones.nodes(page) {
        let Some(own) = page.text(node).filter(|text| text.len() < 4 * MAX_TEXT) else { continue };
        let own = squeezed(own);
        if own.len() < 2 || own.len() > MAX_TEXT {
            continue;
        }
        let (label, value) = split(&own);
        let label = label.to_lowercase();
        let value = || match value {
            "" => next_text(page, node),
            value => Some(value.to_owned()),
        };
        if let Some(rank) = SKU.iter().position(|known| *known == label) {
            let rank = rank + if heading.is_some_and(|heading| node < heading) { 1000 } else { 0 };
            if sku.as_ref().is_none_or(|(best, _)| rank < *best) {
                sku = value().and_then(|value| number(&value)).map(|value| (rank, value)).or(sku);
            }
        } else if labels.brand.is_none() && BRAND.contains(&label.as_str()) {
            labels.brand =
                value().filter(|value| value.len() <= 60 && split(value).1.is_empty()).and_then(|v| words::name(&v));
        } else if labels.brand.is_none() && brand(&own).is_some_and(|name| name != own && !own.contains(':')) {
            labels.brand = brand(&own);
        } else if labels.mpn.is_none() && MPN.contains(&label.as_str()) {
            labels.mpn = value().and_then(|value| number(&value));
        }
    }
    labels.sku = sku.map(|(_, value)| value);
    labels
}

/// Splits a label from the value behind its colon.
fn split(text: &str) -> (&str, &str) {
    let trim = |label: &'_ str| -> usize { label.trim_end_matches([':', '.', '#', ' ', '°', 'º']).len() };
    match text.split_once(':') {
        Some((label, value)) => (&label[..trim(label)], value.trim()),
        None => (&text[..trim(text)], ""),
    }
}

fn next_text(page: &Page, label: Index) -> Option<String> {
    let next = (label + 1..(label + MAX_GAP).min(page.node_count())).filter_map(|node| page.text(node)).map(squeezed);
    next.map(|text| text.trim_start_matches([':', ' ', '\u{200e}', '\u{200f}']).to_owned())
        .find(|text| !text.is_empty())
}

/// Returns a code: few words, with a digit.
fn number(text: &str) -> Option<String> {
    let text = text.trim_matches(|c: char| matches!(c, '\u{200e}' | '\u{200f}' | '(' | ')' | '[' | ']' | ' '));
    let fits = text.len() <= 40 && text.split(' ').count() <= 3 && text.bytes().any(|b| b.is_ascii_digit());
    fits.then(|| words::code(text)).flatten()
}

/// Returns a brand without the words around it: `Brand: Acme`, `More articles of the brand: Acme`, `Visit the Acme Store`.
pub(crate) fn brand(text: &str) -> Option<String> {
    // What the marketplace Amazon writes over a product, by language.
    const STORES: [[&str; 2]; 7] = [
        ["Visit the ", " Store"],
        ["Visitez la boutique ", ""],
        ["Visiter la boutique ", ""],
        ["Besuche den ", "-Store"],
        ["Visita lo Store di ", ""],
        ["Visita la tienda de ", ""],
        ["Visite a loja ", ""],
    ];
    let store = STORES.iter().find_map(|[head, tail]| text.strip_prefix(head)?.strip_suffix(tail));
    let behind_label = text.split_once(':').and_then(|(label, value)| {
        let label = label.trim().to_lowercase();
        BRAND.iter().any(|known| label.ends_with(known)).then_some(value.trim())
    });
    store.or(behind_label).or(Some(text)).map(str::to_owned).filter(|text| !text.is_empty())
}
