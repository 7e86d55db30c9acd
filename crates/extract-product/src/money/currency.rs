//! Signs and codes of currencies.

/// A sign or code beside a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Currency {
    /// ISO 4217 code; `None` if the sign has several meanings.
    pub(crate) code: Option<&'static str>,
    /// Length of the sign in bytes, with the blanks between it and the number.
    pub(crate) length: usize,
}

/// A currency sign, and its code.
struct Sign {
    text: &'static str,
    code: Option<&'static str>,
}

const fn one(text: &'static str, code: &'static str) -> Sign {
    Sign { text, code: Some(code) }
}

/// Signs that several countries use.
const fn many(text: &'static str) -> Sign {
    Sign { text, code: None }
}

/// Signs of the currencies that shops print, from the symbols of CLDR in their own languages; the longer ones before
/// those that they contain.
const SIGNS: [Sign; 64] = [
    one("US$", "USD"),
    one("CA$", "CAD"),
    one("AU$", "AUD"),
    one("NZ$", "NZD"),
    one("HK$", "HKD"),
    one("NT$", "TWD"),
    one("MX$", "MXN"),
    one("S$", "SGD"),
    one("C$", "CAD"),
    one("A$", "AUD"),
    one("R$", "BRL"),
    many("$"),
    one("€", "EUR"),
    one("£", "GBP"),
    one("₽", "RUB"),
    one("₹", "INR"),
    one("₩", "KRW"),
    one("₺", "TRY"),
    one("₴", "UAH"),
    one("₫", "VND"),
    one("฿", "THB"),
    one("₪", "ILS"),
    one("₸", "KZT"),
    one("₱", "PHP"),
    one("₦", "NGN"),
    one("₡", "CRC"),
    one("₲", "PYG"),
    one("₾", "GEL"),
    one("₼", "AZN"),
    one("₵", "GHS"),
    one("円", "JPY"),
    one("元", "CNY"),
    one("원", "KRW"),
    many("¥"),
    many("¥"),
    one("zł", "PLN"),
    one("Kč", "CZK"),
    one("Kčs", "CZK"),
    one("Ft", "HUF"),
    one("lei", "RON"),
    one("Lei", "RON"),
    one("LEI", "RON"),
    one("kn", "HRK"),
    one("Kn", "HRK"),
    one("лв", "BGN"),
    one("руб", "RUB"),
    one("Руб", "RUB"),
    one("р.", "RUB"),
    one("тг", "KZT"),
    one("тнг", "KZT"),
    one("грн", "UAH"),
    one("бел. руб", "BYN"),
    one("din", "RSD"),
    one("дин", "RSD"),
    one("ден", "MKD"),
    one("ر.س", "SAR"),
    one("ريال", "SAR"),
    one("د.إ", "AED"),
    one("TL", "TRY"),
    one("RM", "MYR"),
    one("Rp", "IDR"),
    many("kr"),
    many("Rs"),
    many("Fr."),
];

/// Codes of ISO 4217 that are in use, without those of funds and metals.
const CODES: &str = "AED AFN ALL AMD ARS AUD AZN BAM BBD BDT BGN BHD BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CHF CLP CNY \
    COP CRC CUP CVE CZK DKK DOP DZD EGP ETB EUR FJD GBP GEL GHS GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK \
    JMD JOD JPY KES KGS KHR KRW KWD KYD KZT LAK LBP LKR LYD MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN \
    NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SCR SEK SGD THB TJS TMT TND TRY TTD TWD TZS \
    UAH UGX USD UYU UZS VES VND XAF XCD XOF XPF YER ZAR ZMW";

/// Blanks that may stand between a sign and its number.
fn is_gap(character: char) -> bool {
    character.is_whitespace()
}

/// Returns the currency that a text is, such as `EUR`, `eur` or `€`.
pub(crate) fn currency_of(text: &str) -> Option<&'static str> {
    let text = text.trim();
    code_of(text).or_else(|| SIGNS.iter().find(|sign| sign.text == text.trim_end_matches('.'))?.code)
}

fn code_of(text: &str) -> Option<&'static str> {
    let is_code = text.len() == 3 && text.bytes().all(|b| b.is_ascii_alphabetic());
    is_code.then(|| CODES.split(' ').find(|code| code.eq_ignore_ascii_case(text))).flatten()
}

/// Returns the currency at the end of the text before a number.
pub(crate) fn currency_at_end(before: &str) -> Option<Currency> {
    let text = before.trim_end_matches(|c| is_gap(c) || c == ':');
    if before.len() - text.len() > 4 {
        return None;
    }
    let gap = before.len() - text.len();
    let text_end = text.trim_end_matches('.');
    let dots = text.len() - text_end.len();
    let is_word_start = |length: usize, ends_word: bool| {
        !ends_word || !text_end[..text_end.len() - length].ends_with(char::is_alphabetic)
    };
    let sign = SIGNS.iter().find(|sign| {
        text_end.ends_with(sign.text) && is_word_start(sign.text.len(), sign.text.starts_with(char::is_alphabetic))
    });
    let code =
        text_end.get(text_end.len().wrapping_sub(3)..).filter(|code| code.bytes().all(|b| b.is_ascii_uppercase()));
    if let Some(code) = code.and_then(code_of).filter(|_| is_word_start(3, true)) {
        return Some(Currency { code: Some(code), length: 3 + gap + dots });
    }
    sign.map(|sign| Currency { code: sign.code, length: sign.text.len() + gap + dots })
}

/// Returns the currency at the start of the text after a number.
pub(crate) fn currency_at_start(after: &str) -> Option<Currency> {
    let text = after.trim_start_matches(is_gap);
    let gap = after.len() - text.len();
    if gap > 4 {
        return None;
    }
    let is_word_end =
        |length: usize, is_word: bool| !is_word || !text[length..].starts_with(|c: char| c.is_alphanumeric());
    let code = text.get(..3).filter(|code| code.bytes().all(|b| b.is_ascii_uppercase())).and_then(code_of);
    if let Some(code) = code.filter(|_| is_word_end(3, true)) {
        return Some(Currency { code: Some(code), length: 3 + gap });
    }
    // A dollar sign behind a number mostly belongs to the next one; where it does not, the number has no other sign.
    let sign = SIGNS.iter().find(|sign| {
        text.starts_with(sign.text) && is_word_end(sign.text.len(), sign.text.ends_with(char::is_alphabetic))
    })?;
    Some(Currency { code: sign.code, length: sign.text.len() + gap })
}
