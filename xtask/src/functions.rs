//! Functions of a formatted source.

/// Returns name and length of every function of a formatted source: from `fn` to the brace at the same indentation.
pub(crate) fn function_lines(source: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        // A one-liner or a declaration without a body ends on its own line.
        if line.ends_with(';') || line.ends_with('}') {
            continue;
        }
        if let Some(length) = lines[start..].iter().position(|line| **line == end) {
            found.push((name, length + 1));
        }
    }
    found
}

/// Returns the name of the function that a line declares.
pub(crate) fn function_name(line: &str) -> Option<String> {
    let words = line.trim_start();
    let after = words
        .strip_prefix("fn ")
        .or_else(|| words.split_once(" fn ").filter(|(before, _)| modifiers_only(before)).map(|(_, after)| after))?;
    Some(after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

fn modifiers_only(before: &str) -> bool {
    before.split_whitespace().all(|word| {
        word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe" | "extern") || word.ends_with(')')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_to_their_own_brace() {
        let source =
            "pub(crate) async fn a() {\n    if x {\n    }\n}\n\nimpl B {\n    fn c(&self) {\n        d();\n    }\n}\n";
        assert_eq!(function_lines(source), [("a".to_owned(), 4), ("c".to_owned(), 3)]);
    }

    #[test]
    fn words_in_prose_are_no_functions() {
        assert_eq!(function_lines("// a fn of time\nlet x = 1;\n"), []);
    }
}
