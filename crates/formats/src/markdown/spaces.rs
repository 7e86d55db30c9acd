//! White space as a browser shows it.

/// Appends `text` with every run of white space as one space and without control characters. What `out` holds from
/// `start` on is the text in front.
pub(super) fn fold_spaces(out: &mut String, start: usize, text: &str) {
    let bytes = text.as_bytes();
    let mut plain = 0;
    let mut after_space = out.len() > start && out.ends_with(' ');
    for (i, &byte) in bytes.iter().enumerate() {
        // Bytes below 0x20 and DEL are never part of a longer character.
        if byte > b' ' && byte != 0x7f {
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
    out.push_str(&text[plain..]);
}

/// Appends `text` as code: only line breaks, with the indentation around them, become one space.
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
