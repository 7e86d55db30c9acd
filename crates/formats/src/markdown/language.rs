//! The language of a code block, from its classes and attributes.

use page::{Element, Index, Page, local_name};

/// Prefixes of the language in a class; the first that fits counts.
const PREFIXES: [&str; 7] =
    ["language-", "highlight-source-", "mw-highlight-lang-", "lang-", "brush:", "src-", "highlight-"];
/// Classes that are accompanied by the language as another class.
const LEADS: [&str; 6] = ["hljs", "sourceCode", "syntaxhighlighter", "highlight", "prettyprint", "src"];
const ATTRIBUTES: [&str; 6] = [
    "data-lang",
    "data-language",
    "data-code-language",
    "data-enlighter-language",
    "data-mode",
    "data-programming-language",
];
/// Names that mean "no language".
const NONE: [&str; 10] =
    ["none", "default", "plain", "plaintext", "nohighlight", "no-highlight", "undefined", "auto", "unknown", "generic"];
/// Names of languages that are recognised without a prefix.
const KNOWN: &str = "asm awk bash c clojure cmake console cpp c++ cs csharp css dart diff dockerfile elixir elm erlang \
    fortran fsharp go golang graphql groovy haskell html ini java javascript js json jsx julia kotlin \
    latex lisp lua makefile markdown matlab nginx ocaml pascal perl php powershell prolog py python r rb \
    ruby rust scala scss sh shell sql swift toml ts typescript tsx vb vim xml yaml yml zig zsh";
/// Number of ancestors that are checked; parts of a table (for line numbers) are not counted.
const ABOVE: usize = 3;

/// Returns the language named on the element, the `<code>` inside it, or a near ancestor.
pub(super) fn language(page: &Page, index: Index) -> Option<String> {
    let inner = page.children(index).find(|&child| page.is(child, &local_name!("code")));
    let own = [Some(index), inner].into_iter().flatten().find_map(|at| declared(page.element(at)?, true));
    let is_cell = |at: Index| {
        matches!(
            page.name(at),
            Some(&(local_name!("td") | local_name!("tr") | local_name!("tbody") | local_name!("table")))
        )
    };
    let above = || page.ancestors(index).filter(|&at| !is_cell(at)).take(ABOVE);
    own.or_else(|| above().find_map(|at| declared(page.element(at)?, false)))
}

/// Returns the language named on one element. `own` says whether it contains the code directly: classes of ancestors
/// such as `lang-en` may mean a natural language.
fn declared(element: &Element, own: bool) -> Option<String> {
    if element.attrs.is_empty() {
        return None;
    }
    let class = element.attr("class").unwrap_or_default();
    let names = || class.split_ascii_whitespace();
    let prefixed = PREFIXES.iter().filter(|prefix| own || **prefix != "lang-").find_map(|prefix| {
        names().find_map(|name| name.strip_prefix(prefix).filter(|rest| !rest.is_empty()).and_then(clean))
    });
    let brush = || names().skip_while(|name| *name != "brush:").nth(1).and_then(clean);
    let attribute = || ATTRIBUTES.iter().find_map(|name| clean(&element.attr(name)?));
    let alone = || {
        let led = names().any(|name| LEADS.contains(&name));
        let found = names().filter_map(clean).find(|name| is_known(name));
        found.filter(|_| own || led)
    };
    let lang = || clean(&element.attr("lang")?).filter(|name| is_known(name));
    prefixed.or_else(brush).or_else(attribute).or_else(alone).or_else(|| lang().filter(|_| own))
}

fn is_known(name: &str) -> bool {
    KNOWN.split(' ').any(|known| known == name)
}

/// Normalises `name` for the info string of a fence; `None` if it names no language.
fn clean(name: &str) -> Option<String> {
    let name = name.trim().trim_end_matches(';').to_ascii_lowercase();
    let name = name.strip_prefix("text-").or(name.strip_prefix("text/x-")).unwrap_or(&name);
    let fits = (1..=20).contains(&name.len()) && !NONE.contains(&name);
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+#.-_".contains(&b));
    (fits && plain && name.starts_with(|c: char| c.is_ascii_alphanumeric())).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn check(html: &str, expect: &str) {
        let page = Page::parse(html, &Url::parse("https://a.test/").unwrap());
        let pre = page.first(&local_name!("pre")).unwrap();
        assert_eq!(language(&page, pre).unwrap_or_default(), expect, "{html}");
    }

    #[test]
    fn languages() {
        check("<pre class=language-Rust>", "rust");
        check("<pre><code class='hljs lang-c++'>", "c++");
        check("<pre><code class='hljs javascript'>", "javascript");
        check("<pre class='sourceCode haskell'>", "haskell");
        check("<pre class='brush: php; gutter: false'>", "php");
        check("<pre class='brush:js'>", "js");
        check("<pre class='src src-python'>", "python");
        check("<pre data-lang=go>", "go");
        check("<pre lang=ruby>", "ruby");
        check("<pre lang=en>", "");
        check("<pre><code class=language-plaintext>", "");
        check("<pre class='language-x\"y'>", "");
        check("<div class=highlight-python3><div class=highlight><pre>", "python3");
        check("<div class='highlight highlight-source-shell'><pre>", "shell");
        check("<div class='language-ruby highlighter-rouge'><div class=highlight><pre class=highlight><code>", "ruby");
        check("<div class='mw-highlight mw-highlight-lang-lua'><pre>", "lua");
        check("<div class='highlight highlight-source-js'><table><tr><td><pre>", "js");
        check("<div class=lang-en><pre>", "");
        check("<div class='intro java'><pre>", "");
    }
}
