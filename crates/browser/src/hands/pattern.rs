//! URL patterns that a caller waits for: globs or regular expressions of the caller, matched with addresses that the
//! page sets. Both are untrusted input, so their sizes and the matching steps are limited, and the work uses the
//! caller's CPU permits.

use base::Stop;
use cpu::{CpuError, Share};
use crawl_frontier::{Expression, PatternFault, Steps};
use serde::Deserialize;
use tokio::time::Instant;

use super::Failure;

/// Maximum length of a URL that is navigated to or waited for, in bytes.
pub(super) const MAX_URL: usize = 8192;
/// Maximum length of a regular expression, in bytes.
const MAX_EXPRESSION: usize = 2048;

/// A glob with `*` and `**`, or a regular expression.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Pattern {
    Glob(String),
    Regex { re: String, flags: String },
}

/// Matcher for the successive addresses of a page.
pub(super) struct Matcher {
    text: String,
    /// Compiled when the first address is matched.
    expression: Option<Expression>,
    steps: Steps,
    /// The last address, which did not match.
    last: Option<String>,
}

impl Pattern {
    /// Creates a matcher without compiling the pattern yet.
    ///
    /// # Errors
    /// If the pattern is too long.
    pub(super) fn matcher(&self) -> Result<Matcher, Failure> {
        let (given, most) = match self {
            Self::Regex { re, .. } => (re, MAX_EXPRESSION),
            Self::Glob(glob) => (glob, MAX_URL),
        };
        if given.len() > most {
            return Err(refused(&format!("it has {} bytes, more than the limit of {most}", given.len())));
        }
        // Limit for all addresses of the wait together.
        let steps = Steps::of_a_url();
        Ok(Matcher { text: self.expression(), expression: None, steps, last: None })
    }

    fn expression(&self) -> String {
        match self {
            Self::Regex { re, flags } => {
                // Flags that mean the same here as in JavaScript; the others do not affect matching an address.
                let flags: String = ["i", "m", "s"].into_iter().filter(|flag| flags.contains(flag)).collect();
                if flags.is_empty() { re.clone() } else { format!("(?{flags}){re}") }
            }
            Self::Glob(glob) => {
                let within_folder =
                    |part: &str| part.split('*').map(Expression::quoted).collect::<Vec<_>>().join("[^/]*");
                let folders: Vec<String> = glob.split("**").map(within_folder).collect();
                format!("^{}$", folders.join(".*"))
            }
        }
    }
}

impl Matcher {
    /// Whether an address matches.
    ///
    /// # Errors
    /// If the pattern is invalid, takes too many steps, or no permit is free before `by`.
    pub(super) async fn matches(&mut self, address: String, share: &Share, by: Instant) -> Result<bool, Failure> {
        if self.last.as_ref() == Some(&address) {
            return Ok(false);
        }
        let (text, expression, mut steps) = (self.text.clone(), self.expression.take(), self.steps.clone());
        let work = move |_: &Stop| -> Result<_, PatternFault> {
            let expression = expression.map_or_else(|| Expression::new(&text), Ok)?;
            let found = expression.matches(&address, &mut steps);
            Ok((expression, steps, address, found))
        };
        let done = share.run(by, work).await.map_err(|error| match error {
            CpuError::Timeout => Failure::timeout("waiting for the URL", "the server has no CPU permit free for it"),
            CpuError::Panicked => Failure::new(format!("matching the URL failed: {error}")),
        })?;
        let (expression, steps, address, found) = done.map_err(|fault| refused(&format!("it {fault}")))?;
        (self.expression, self.steps, self.last) = (Some(expression), steps, Some(address));
        found.ok_or_else(|| refused("matching it takes too much work; use fewer or smaller repeats and alternatives"))
    }
}

fn refused(why: &str) -> Failure {
    Failure::wrong("the URL", why)
}

#[cfg(test)]
mod tests {
    use base::Owner;
    use cpu::Cpu;
    use tokio::time::Duration;

    use super::*;

    fn expression(re: &str, flags: &str) -> Pattern {
        Pattern::Regex { re: re.to_owned(), flags: flags.to_owned() }
    }

    fn glob(glob: &str) -> Pattern {
        Pattern::Glob(glob.to_owned())
    }

    async fn found(pattern: &Pattern, addresses: &[&str]) -> Result<bool, Failure> {
        let share = Cpu::new(1).share(&Owner::of_team("team"));
        let by = Instant::now() + Duration::from_secs(60);
        let mut matcher = pattern.matcher()?;
        for address in addresses {
            if matcher.matches((*address).to_owned(), &share, by).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[tokio::test]
    async fn globs_and_expressions_match_addresses() {
        let check = async |pattern: Pattern, address: &str, expect: bool| {
            assert_eq!(found(&pattern, &[address]).await, Ok(expect), "{address}");
        };
        check(glob("**/done"), "http://a.b/c/done", true).await;
        check(glob("*/done"), "http://a.b/c/done", false).await;
        check(glob("http://a.b/?x=*"), "http://a.b/?x=1", true).await;
        check(glob("http://a.b/?x=*"), "http://a.b/yx=1", false).await;
        check(glob("http://a.b/."), "http://a.b/c", false).await;
        check(glob("**/*.html"), "http://a.b/c/d.html", true).await;
        check(glob(&"x".repeat(8192)), &"x".repeat(8192), true).await;
        check(expression("DONE$", "i"), "http://a.b/done", true).await;
        check(expression("DONE$", "g"), "http://a.b/done", false).await;
        check(expression(r"/orders/\d+(\?|$)", ""), "http://a.b/orders/12?x", true).await;
        let twice = ["http://a.b/1", "http://a.b/1", "http://a.b/2"];
        assert_eq!(found(&expression("/2$", ""), &twice).await, Ok(true));
    }

    #[tokio::test]
    async fn long_patterns_are_refused_unread() {
        let why = async |pattern: Pattern| found(&pattern, &["http://a.b/"]).await.unwrap_err().message;
        let refused = why(expression(&r"\w".repeat(1_000_000), "")).await;
        assert_eq!(refused, "wrong argument for the URL: it has 2000000 bytes, more than the limit of 2048");
        assert!(found(&expression(&"x".repeat(2048), ""), &["x"]).await.is_ok());
        assert!(why(glob(&"x".repeat(8193))).await.ends_with("more than the limit of 8192"));
    }

    #[tokio::test]
    async fn what_takes_too_much_work_is_refused() {
        // Irregular text: a regular one needs few states.
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 31 == 0 { 'x' } else { 'y' }
        };
        let address = format!("http://a.b/?{}", (0..7800).map(|_| next()).collect::<String>());
        assert_eq!(found(&expression("[xy]{100}$", ""), &[&address]).await, Ok(true));
        for pattern in [
            expression("(x|y)*x(x|y){900}[0-9]", ""),
            expression("x.{500}x.{500}z", ""),
            glob(&format!("**{}z", "x*y**".repeat(1600))),
        ] {
            let refused = found(&pattern, &[&address]).await.unwrap_err();
            assert_eq!(refused.name, "TypeError");
            assert!(refused.message.contains("too much work") || refused.message.contains("too large"), "{refused}");
        }
        let refused = found(&expression("(?=x)", ""), &["x"]).await.unwrap_err();
        assert_eq!(refused.message, "wrong argument for the URL: it uses look-around, which RE2 syntax does not have");
    }
}
