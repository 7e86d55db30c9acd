//! A regular expression of a caller for untrusted texts.

use super::automaton::Builder;
use super::words::{Word, Words};
use super::{MAX_WORK, PatternFault, Patterns, parse};
use crate::Steps;

/// Memory limit of a compiled expression in bytes.
const MAX_SIZE: usize = 1 << 20;

/// An expression in RE2 syntax, compiled with limits on time and memory and matched within a step budget.
///
/// ```
/// use crawl_frontier::{Expression, Steps};
///
/// let expression = Expression::new(r"/orders/\d+$")?;
/// assert_eq!(expression.matches("https://example.com/orders/12", &mut Steps::of_a_url()), Some(true));
/// let costly = Expression::new("(x|y)*x(x|y){900}[0-9]")?;
/// assert_eq!(costly.matches("xxyxyy", &mut Steps::new(10_000)), None, "it takes more steps");
/// # Ok::<(), crawl_frontier::PatternFault>(())
/// ```
#[derive(Debug, Clone)]
pub struct Expression(Patterns);

impl Expression {
    /// Compiles an expression, which matches anywhere in a text unless anchored. The caller must limit its length; the cost
    /// of compiling is limited for any content.
    ///
    /// # Errors
    /// [`PatternFault`], which follows the name of the expression: "uses look-around, …".
    pub fn new(expression: &str) -> Result<Self, PatternFault> {
        let hir = parse::parse(expression, &mut Steps::new(MAX_WORK))?;
        if let Some(word) = Word::of(&hir) {
            let words = Words::new(vec![word]).ok_or(PatternFault::TooLarge)?;
            return Ok(Self(Patterns { words, automata: Vec::new() }));
        }
        let automaton = Builder::new(MAX_SIZE).alone(&hir)?;
        Ok(Self(Patterns { words: Words::default(), automata: vec![automaton] }))
    }

    /// Returns an expression that matches exactly this text.
    #[must_use]
    pub fn quoted(text: &str) -> String {
        regex_syntax::escape(text)
    }

    /// Returns whether the expression matches anywhere in a text; `None` when it needs more steps than are left.
    #[must_use]
    pub fn matches(&self, text: &str, steps: &mut Steps) -> Option<bool> {
        self.0.find_in(text.as_bytes(), &mut Vec::new(), steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, text: &str, expect: Option<bool>) {
        let compiled = Expression::new(expression).unwrap();
        assert_eq!(compiled.matches(text, &mut Steps::of_a_url()), expect, "{expression}");
    }

    #[test]
    fn expressions_match_anywhere_unless_anchored() {
        check("/done$", "http://a.b/done", Some(true));
        check("(?i)DONE$", "http://a.b/done", Some(true));
        check("^/done", "http://a.b/done", Some(false));
        check(r"id=\d{3}\b", "http://a.b/?id=123&x", Some(true));
        check(r"\?q=caf(é|%C3%A9)", "http://a.b/?q=caf%C3%A9", Some(true));
        check("^[^/]*$", "a/b", Some(false));
        check("", "anything", Some(true));
    }

    #[test]
    fn what_takes_too_much_work_has_no_answer() {
        // Pseudo-random input: repetitive input would need only few states.
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 { 'x' } else { 'y' }
        };
        let text: String = (0..7800).map(|_| next()).collect();
        check("(x|y)*x(x|y){900}[0-9]", &text, None);
        check("x.{500}x.{500}z", &text, None);
        // Stars alone are cheap.
        check(&format!("^{}z$", ".*x".repeat(20)), &text, Some(false));
    }

    #[test]
    fn what_does_not_compile_is_refused() {
        let fault = |expression: &str| Expression::new(expression).unwrap_err();
        assert_eq!(fault("(?=x)"), PatternFault::LookAround);
        assert_eq!(fault(r"(a)\1"), PatternFault::BackReference);
        assert_eq!(fault("((a{1,1000}){1,1000}){1,1000}"), PatternFault::TooLarge);
        assert!(matches!(fault("["), PatternFault::Syntax(_)));
    }
}
