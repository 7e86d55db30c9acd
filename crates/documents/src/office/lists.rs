//! Indentation of lists in the markdown.
//!
//! The converter indents what belongs to an item by the width of its whole label, as in `- Section 1:`. In markdown
//! only the bullet counts, and text that is indented further is code. So it is indented as far as the bullet is wide.

/// Item of a list whose lines are indented.
struct Item {
    /// Indentation of its bullet in the source.
    bullet: usize,
    /// Indentation of what belongs to it in the source, once that is known.
    content: Option<usize>,
    /// Indentation that it gets.
    out: usize,
}

/// Returns the markdown with its lists indented.
pub(super) fn indented(markdown: String) -> String {
    if !markdown.lines().any(|line| line.starts_with("      ")) {
        return markdown;
    }
    let (mut out, mut items): (String, Vec<Item>) = (String::with_capacity(markdown.len()), Vec::new());
    let mut fence: Option<String> = None;
    for line in markdown.split_inclusive('\n') {
        let text = line.trim_start_matches(' ');
        if text.trim().is_empty() {
            out.push_str(line);
            continue;
        }
        let indent = line.len() - text.len();
        if fence.is_none() {
            while items
                .last()
                .is_some_and(|item| indent <= item.bullet || item.content.is_some_and(|content| indent < content))
            {
                items.pop();
            }
        }
        let moved = match items.last_mut() {
            Some(item) => item.out + indent.saturating_sub(*item.content.get_or_insert(indent)),
            None => indent,
        };
        out.extend(std::iter::repeat_n(' ', moved));
        out.push_str(text);
        match &fence {
            Some(mark) if text.trim_end() == mark.as_str() => fence = None,
            Some(_) => {}
            None => {
                fence = opens_fence(text);
                if let Some(width) = bullet_width(text) {
                    items.push(Item { bullet: indent, content: None, out: moved + width });
                }
            }
        }
    }
    out
}

/// Returns the line that ends a block of code, if one begins here.
fn opens_fence(text: &str) -> Option<String> {
    let length = text.bytes().take_while(|byte| *byte == b'`').count();
    (length >= 3 && !text[length..].contains('`')).then(|| "`".repeat(length))
}

/// Returns the width of a bullet or number with the space behind it.
fn bullet_width(text: &str) -> Option<usize> {
    if text.starts_with("- ") || text.trim_end() == "-" {
        return Some(2);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = (1..10).contains(&digits) && (text[digits..].starts_with(". ") || text[digits..].starts_with(") "));
    is_number.then_some(digits + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, expected: &str) {
        assert_eq!(indented(markdown.to_owned()), expected);
    }

    #[test]
    fn what_belongs_to_a_label_is_indented_by_the_bullet() {
        check(
            "- Section 1: a\n\n             - Clause 1.1 b\n\n                          - (i) c\n                          - (ii) d\n\n- Section 2: e\n\nf\n",
            "- Section 1: a\n\n  - Clause 1.1 b\n\n    - (i) c\n    - (ii) d\n\n- Section 2: e\n\nf\n",
        );
    }

    #[test]
    fn usual_lists_and_code_stay() {
        let usual = "1. a\n\n   b\n\n   - c\n     - d\n\n       e\n\n   ```\n             f\n   - g\n   ```\n\n10. h\n    - i\n";
        check(usual, usual);
    }
}
