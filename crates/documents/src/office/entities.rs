//! Named characters of HTML 4, which XML does not know.

/// Names of the characters from U+00A0 to U+00FF.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
/// Names of Greek letters, and the letters.
const GREEK: &str = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho Sigma Tau Upsilon Phi Chi Psi Omega alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";
const GREEK_LETTERS: &str = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρςστυφχψω";
/// Names of the other characters, and the characters.
const OTHERS: &str = "OElig oelig Scaron scaron Yuml fnof circ tilde thetasym upsih piv ensp emsp thinsp zwnj zwj ndash mdash lsquo rsquo sbquo ldquo rdquo bdquo dagger Dagger bull hellip permil prime Prime lsaquo rsaquo oline frasl euro image weierp real trade alefsym larr uarr rarr darr harr crarr lArr uArr rArr dArr hArr forall part exist empty nabla isin notin ni prod sum minus lowast radic prop infin ang and or cap cup int there4 sim cong asymp ne equiv le ge sub sup nsub sube supe oplus otimes perp sdot lceil rceil lfloor rfloor lang rang loz spades clubs hearts diams";
const OTHER_LETTERS: &str = "ŒœŠšŸƒˆ˜ϑϒϖ\u{2002}\u{2003}\u{2009}\u{200C}\u{200D}–—‘’‚“”„†‡•…‰′″‹›‾⁄€ℑ℘ℜ™ℵ←↑→↓↔↵⇐⇑⇒⇓⇔∀∂∃∅∇∈∉∋∏∑−∗√∝∞∠∧∨∩∪∫∴∼≅≈≠≡≤≥⊂⊃⊄⊆⊇⊕⊗⊥⋅⌈⌉⌊⌋〈〉◊♠♣♥♦";

/// Returns the character of a name.
pub(super) fn named(name: &str) -> Option<char> {
    if let Some(place) = LATIN.split(' ').position(|known| known == name) {
        return char::from_u32(0xA0 + u32::try_from(place).ok()?);
    }
    [(GREEK, GREEK_LETTERS), (OTHERS, OTHER_LETTERS)].iter().find_map(|(names, letters)| {
        let place = names.split(' ').position(|known| known == name)?;
        letters.chars().nth(place)
    })
}

/// Returns the text with the named characters as characters; those of XML stay.
pub(super) fn without_names(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().skip(1).take_while(u8::is_ascii_alphanumeric).count() + 1;
        let found = rest.get(end..).filter(|after| after.starts_with(';')).and_then(|_| named(&rest[1..end]));
        match found {
            Some(letter) => {
                out.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_characters() {
        for (name, letter) in [("nbsp", '\u{A0}'), ("yuml", 'ÿ'), ("omega", 'ω'), ("mdash", '—'), ("diams", '♦')]
        {
            assert_eq!(named(name), Some(letter), "{name}");
        }
        assert_eq!(without_names("a&nbsp;b &amp; &unknown; &eacute &x"), "a\u{A0}b &amp; &unknown; &eacute &x");
        assert_eq!(GREEK.split(' ').count(), GREEK_LETTERS.chars().count());
        assert_eq!(OTHERS.split(' ').count(), OTHER_LETTERS.chars().count());
    }
}
