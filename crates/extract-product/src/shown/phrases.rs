//! Words that shops use, in the languages of Europe and some others: collected from the interfaces of common shop systems
//! (Magento, PrestaShop, Shopify, WooCommerce) in their translations.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

const BUY: [&str; 62] = [
    "add to cart",
    "add to basket",
    "add to bag",
    "add to trolley",
    "add to order",
    "buy now",
    "buy it now",
    "order now",
    "place bid",
    "pre-order",
    "preorder",
    "purchase",
    "in den warenkorb",
    "in den einkaufswagen",
    "jetzt kaufen",
    "ajouter au panier",
    "acheter",
    "añadir al carrito",
    "añadir a la cesta",
    "agregar al carrito",
    "comprar",
    "anadir",
    "aggiungi al carrello",
    "acquista",
    "adicionar ao carrinho",
    "dodaj do koszyka",
    "kup teraz",
    "do košíka",
    "do košíku",
    "koupit",
    "kúpiť",
    "v košarico",
    "u košaricu",
    "dodaj u korpu",
    "kosárba",
    "adaugă în coș",
    "adauga in cos",
    "în coș",
    "в корзину",
    "купить",
    "в кошик",
    "купити",
    "sepete ekle",
    "satın al",
    "varukorg",
    "handlekurv",
    "læg i kurv",
    "in winkelwagen",
    "in winkelmand",
    "ostukorv",
    "pievienot grozam",
    "ielikt grozā",
    "į krepšelį",
    "ostoskoriin",
    "أضف إلى",
    "أضف الى",
    "カートに入れる",
    "カートに追加",
    "加入购物车",
    "加入購物車",
    "장바구니",
    "себетке",
];

const OUT: [&str; 56] = [
    "out of stock",
    "out-of-stock",
    "sold out",
    "currently unavailable",
    "no longer available",
    "not available",
    "temporarily unavailable",
    "unavailable",
    "nicht verfügbar",
    "nicht lieferbar",
    "nicht auf lager",
    "ausverkauft",
    "épuisé",
    "rupture de stock",
    "indisponible",
    "non disponible",
    "agotado",
    "sin stock",
    "no disponible",
    "esgotado",
    "indisponível",
    "non disponibile",
    "esaurito",
    "wyprzedan",
    "niedostępn",
    "brak w magazynie",
    "vyprodáno",
    "není skladem",
    "nedostupn",
    "vypredan",
    "nie je na sklade",
    "ni na zalogi",
    "razprodano",
    "rasprodano",
    "nije dostupno",
    "stoc epuizat",
    "indisponibil",
    "нет в наличии",
    "распродан",
    "немає в наявності",
    "stokta yok",
    "tükendi",
    "slutsåld",
    "udsolgt",
    "utsolgt",
    "uitverkocht",
    "niet op voorraad",
    "läbi müüdud",
    "nav pieejam",
    "loppuunmyyty",
    "نفذ",
    "غير متوفر",
    "売り切れ",
    "在庫なし",
    "缺货",
    "품절",
];

const IN: [&str; 38] = [
    "in stock",
    "in-stock",
    "available now",
    "auf lager",
    "sofort lieferbar",
    "verfügbar",
    "lieferbar",
    "en stock",
    "disponible",
    "em stock",
    "em estoque",
    "disponível",
    "disponibile",
    "in magazzino",
    "dostępny",
    "dostępne",
    "w magazynie",
    "skladem",
    "na sklade",
    "skladom",
    "na zalogi",
    "na zalihi",
    "dostupno",
    "în stoc",
    "in stoc",
    "в наличии",
    "є в наявності",
    "stokta",
    "i lager",
    "på lager",
    "op voorraad",
    "laos",
    "ir noliktavā",
    "varastossa",
    "raktáron",
    "متوفر",
    "在庫あり",
    "有货",
];

const FORMER: [&str; 40] = [
    "was",
    "rrp",
    "msrp",
    "list price",
    "list:",
    "regular price",
    "original price",
    "reg.",
    "retail",
    "compare at",
    "before",
    "old price",
    "you save",
    "save",
    "statt",
    "uvp",
    "bisher",
    "ersparnis",
    "sie sparen",
    "avant",
    "prix conseillé",
    "au lieu de",
    "économisez",
    "vous économisez",
    "antes",
    "pvp",
    "pvpr",
    "ahorra",
    "invece di",
    "prezzo consigliato",
    "risparmi",
    "prp",
    "pmc",
    "înainte",
    "stara cena",
    "stará cena",
    "původní cena",
    "pôvodná cena",
    "было",
    "старая цена",
];

/// Words before an amount that is not a price of the product.
const OTHER: [&str; 32] = [
    "shipping",
    "delivery",
    "postage",
    "versand",
    "livraison",
    "envío",
    "spedizione",
    "frete",
    "dostawa",
    "doprava",
    "dostava",
    "доставка",
    "livrare",
    "over",
    "orders above",
    "voucher",
    "coupon",
    "gift card",
    "points",
    "instal",
    "rate ",
    "monat",
    "/mo",
    "per month",
    "mesečno",
    "mensual",
    "x de",
    "cashback",
    "off ",
    "discount",
    "rabat",
    "sleva",
];

/// Units behind a price that is not one of the whole thing.
const PER_UNIT: [&str; 30] = [
    "/kg",
    "/ kg",
    "/100",
    "/ 100",
    "/l",
    "/ l",
    "/litre",
    "/liter",
    "/m²",
    "/ m²",
    "/m2",
    "/oz",
    "/ oz",
    "/lb",
    "per kg",
    "per 100",
    "per litre",
    "per liter",
    "per oz",
    "pro kg",
    "le kg",
    "le litre",
    "/month",
    "/mo",
    "per month",
    "/monat",
    "/mois",
    "/mes",
    "/mese",
    "/ each",
];

fn words(list: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(list).ok()
}

static BUY_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(&BUY));
static OUT_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(&OUT));
static IN_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(&IN));
static OTHER_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(&OTHER));

fn has(words: &LazyLock<Option<AhoCorasick>>, text: &str) -> bool {
    words.as_ref().is_some_and(|words| words.is_match(text))
}

/// Whether the text of a button says that it buys.
pub(super) fn says_buy(text: &str) -> bool {
    has(&BUY_WORDS, text) || has(&BUY_WORDS, &text.to_lowercase())
}

/// Whether a text says that there is nothing left.
pub(super) fn says_out(text: &str) -> bool {
    has(&OUT_WORDS, text) || has(&OUT_WORDS, &text.to_lowercase())
}

/// Whether a text says that a thing can be bought, or that it cannot.
pub(super) fn stock(text: &str) -> Option<bool> {
    if says_out(text) {
        return Some(false);
    }
    (has(&IN_WORDS, text) || has(&IN_WORDS, &text.to_lowercase())).then_some(true)
}

/// Whether the class, id or name of an element says that it buys.
pub(super) fn marks_buying(mark: &str) -> bool {
    const MARKS: [&str; 13] = [
        "add-to-cart",
        "addtocart",
        "add_to_cart",
        "add-to-basket",
        "addtobasket",
        "add-to-bag",
        "addtobag",
        "buy-now",
        "buynow",
        "btn-buy",
        "buy-button",
        "buybutton",
        "tocart",
    ];
    let mark = mark.to_ascii_lowercase();
    MARKS.iter().any(|word| mark.contains(word))
}

/// Whether the words before an amount say that it is no longer asked, or saved.
pub(super) fn says_former(before: &str) -> bool {
    let before = before.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    FORMER.iter().any(|word| {
        before.ends_with(word.trim_end_matches([':', '.']))
            && !before[..before.len() - word.trim_end_matches([':', '.']).len()].ends_with(char::is_alphanumeric)
    })
}

/// Whether the class of an element says that its price is no longer asked.
pub(super) fn marks_former(mark: &str) -> bool {
    const MARKS: [&str; 24] = [
        "oldprice",
        "priceold",
        "wasprice",
        "pricewas",
        "strike",
        "msrp",
        "listprice",
        "list-price",
        "list_price",
        "regular-price",
        "regularprice",
        "original",
        "compare",
        "crossed",
        "former",
        "line-through",
        "linethrough",
        "previous",
        "retailprice",
        "saving",
        "discount-amount",
        "basis-price",
        "basisprice",
        "barred",
    ];
    const WORDS: [&str; 7] = ["old", "was", "rrp", "before", "save", "retail", "uvp"];
    let mut words = mark.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| WORDS.contains(&word)) || MARKS.iter().any(|word| mark.contains(word))
}

/// Returns what the class and id of an element say about the price in it.
pub(super) fn price_marks(mark: &str) -> f64 {
    let any = |words: &[&str]| words.iter().any(|word| mark.contains(word));
    let mut score = 0.0;
    if any(&["price", "preis", "prix", "precio", "prezzo", "preco", "cena", "cijena", "pris", "amount", "цен"]) {
        score += 2.0;
        score += if any(&[
            "current", "final", "now", "our", "sale", "special", "actual", "main", "buy", "product", "deal",
        ]) {
            1.0
        } else {
            0.0
        };
    }
    if any(&[
        "unit", "per-", "perunit", "shipping", "delivery", "instal", "finance", "monthly", "credit", "saving", "save",
    ]) {
        score -= 4.0;
    }
    score
}

/// Whether a text names a tax on sales.
pub(super) fn says_tax(text: &str) -> bool {
    const TAXES: [&str; 20] = [
        "vat", "tax", "gst", "mwst", "ust", "tva", "ht", "ttc", "iva", "btw", "moms", "dph", "ddv", "pdv", "áfa",
        "afa", "ндс", "пдв", "kdv", "km",
    ];
    let text = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).any(|word| TAXES.contains(&word))
}

/// Returns what the words around a price say about it.
pub(super) fn around(before: &str, after: &str) -> f64 {
    let after = after.trim_start().to_lowercase();
    let per_unit = PER_UNIT.iter().any(|unit| after.starts_with(unit));
    let other = has(&OTHER_WORDS, before) || has(&OTHER_WORDS, &after);
    let saved = before.trim_end().ends_with(['-', '−', '–', '+']) || after.starts_with('%');
    // `12 x 9,99`
    let instalment = before.trim_end().to_lowercase().ends_with(['x', '×']);
    let worse = |flag: bool, by: f64| if flag { -by } else { 0.0 };
    worse(per_unit, 6.0) + worse(other, 4.0) + worse(saved, 5.0) + worse(instalment, 6.0)
}
