//! Folding of white space, as in a browser.

/// Appends `text` with every run of white space folded to one space and without control characters. The text of `out`
/// from `start` on precedes it: a run may continue from there.
pub(super) fn fold_spaces(out: &mut String, start: usize, text: &str) {
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (0, 0);
    let mut after_space = out.len() > start && out.ends_with(' ');
    while at < bytes.len() {
        let end = bytes.len().min(at + RUN);
        if is_folded(&bytes[at..end]) && !(after_space && bytes[at] == b' ') {
            after_space = bytes[end - 1] == b' ';
            at = end;
            continue;
        }
        for (i, &byte) in (at..end).zip(&bytes[at..end]) {
            // Bytes below 0x20 and DEL are never part of a longer character.
            if byte > b' ' && byte != DEL {
                after_space = false;
                continue;
            }
            if byte == b' ' && !after_space {
                after_space = true;
                continue;
            }
            out.push_str(&text[plain..i]);
            plain = i + 1;
            if byte.is_ascii_whitespace() && !after_space {
                out.push(' ');
                after_space = true;
            }
        }
        at = end;
    }
    out.push_str(&text[plain..]);
}

/// Number of bytes that are checked together.
const RUN: usize = 32;
const DEL: u8 = 0x7f;

/// Whether there are only single spaces and no control characters. Written without branches, so that the compiler can
/// vectorise it.
fn is_folded(bytes: &[u8]) -> bool {
    let controls = bytes.iter().fold(false, |found, &byte| found | (byte < b' ') | (byte == DEL));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    !pairs.fold(controls, |found, (&one, &next)| found | (one == b' ') & (next == b' '))
}

/// Appends `text` as code: spaces are kept, and every line break replaces the indentation around it.
pub(super) fn fold_code(out: &mut String, text: &str) {
    let start = out.len();
    for (n, line) in text.split(['\n', '\r']).enumerate() {
        let line = if n > 0 { line.trim_start_matches([' ', '\t']) } else { line };
        if n > 0 {
            out.truncate(start + out[start..].trim_end_matches([' ', '\t', '\n']).len());
            out.push('\n');
        }
        out.extend(line.chars().filter(|c| *c == '\t' || !c.is_control()));
    }
}
