//! Tuples as parameters: a part of a tuple has no name where the function is called, and a tuple hides how many
//! parameters there are.

use crate::functions::function_name;

/// Returns each parameter of a formatted source that is a tuple, by its pattern or by its type, with the name of its
/// function. Closures may take tuples.
pub(crate) fn tuples(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        if let Some(name) = function_name(line)
            && let Some(after) = line.find(&format!("fn {name}")).map(|at| start + at + "fn ".len() + name.len())
        {
            let tuples = parameters(&source[after..]).into_iter().filter(|parameter| is_tuple(parameter));
            found.extend(tuples.map(|parameter| (name.clone(), parameter)));
        }
        start += line.len();
    }
    found
}

/// Returns the parameters of a function whose generics or parameters `after` begins with.
fn parameters(after: &str) -> Vec<String> {
    let Some(open) = outside_brackets(after, |c| c == '(') else { return Vec::new() };
    let mut rest = &after[open + 1..];
    let mut found = Vec::new();
    loop {
        let end = outside_brackets(rest, |c| matches!(c, ',' | ')'));
        let (parameter, more) = rest.split_at(end.unwrap_or(rest.len()));
        let parameter = parameter.split_whitespace().collect::<Vec<_>>().join(" ");
        found.extend(Some(parameter).filter(|parameter| !parameter.is_empty()));
        match more.strip_prefix(',') {
            Some(more) => rest = more,
            None => return found,
        }
    }
}

/// Returns the first position of a wanted character outside of all brackets; the arrow of a function's result closes
/// none.
fn outside_brackets(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let (mut depth, mut last) = (0_u32, ' ');
    for (at, c) in text.char_indices() {
        if depth == 0 && wanted(c) {
            return Some(at);
        }
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if last == '-' => {}
            ')' | ']' | '}' | '>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        last = c;
    }
    None
}

fn is_tuple(parameter: &str) -> bool {
    let (pattern, of_type) = match outside_brackets(parameter, |c| c == ':') {
        Some(colon) => (&parameter[..colon], &parameter[colon + 1..]),
        None => (parameter, ""),
    };
    [pattern, of_type].into_iter().any(|part| {
        let inner = without_reference(part).strip_prefix('(');
        // `&(dyn Error + Send)` has brackets as well, but no comma.
        inner.is_some_and(|inner| outside_brackets(inner, |c| c == ',').is_some())
    })
}

fn without_reference(part: &str) -> &str {
    let part = part.trim();
    let Some(target) = part.strip_prefix('&') else { return part };
    let target = match target.strip_prefix('\'') {
        Some(named) => named.split_once(' ').map_or("", |(_, target)| target),
        None => target,
    };
    without_reference(target.strip_prefix("mut ").unwrap_or(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &[&str]) {
        let found: Vec<String> =
            tuples(source).into_iter().map(|(name, parameter)| format!("{name}: {parameter}")).collect();
        assert_eq!(found, expect, "{source}");
    }

    #[test]
    fn tuples_are_found_by_pattern_and_by_type() {
        check("fn a((x, y): (f32, f32), z: u8) {}\n", &["a: (x, y): (f32, f32)"]);
        check("pub(crate) fn b<T: Fn(u8) -> u8>(\n    &self,\n    (x, y): Pair,\n) {\n}\n", &["b: (x, y): Pair"]);
        check("    async fn c(pair: &'a mut (u8, Vec<(u8, u8)>)) -> u8;\n", &["c: pair: &'a mut (u8, Vec<(u8, u8)>)"]);
        check("fn d(&(x, _): &(u8, u8)) {}\nfn e(one: (u8,)) {}\n", &["d: &(x, _): &(u8, u8)", "e: one: (u8,)"]);
    }

    #[test]
    fn other_brackets_are_no_tuples() {
        check("fn a(pairs: &[(u8, u8)], map: HashMap<(u8, u8), u8>, nothing: ()) -> (u8, u8) {}\n", &[]);
        check(
            "fn b(error: &(dyn Error + Send), work: impl Fn((u8, u8)) -> (u8, u8), next: fn(u8) -> (u8, u8)) {}\n",
            &[],
        );
        check("fn c(Point { x, y }: Point, [a, b]: [u8; 2]) {\n    let d = |(x, y): (u8, u8)| x;\n}\n", &[]);
    }
}
