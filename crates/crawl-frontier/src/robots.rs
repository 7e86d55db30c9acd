//! Parser of robots.txt (RFC 9309), as lenient as Google's parser (github.com/google/robotstxt).

mod alike;
mod answer;
mod index;
mod line;
mod rule;
mod rules;

use std::time::Duration;

pub use answer::{MAX_ROBOTS_REDIRECTS, RobotsAnswer, judge};
use line::{Line, lines};
pub use rule::Rule;
pub use rules::Rules;

/// Byte limit of a file (RFC 9309 section 2.5 requires at least 500 KiB). A line truncated by it is ignored.
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;
/// Maximum number of `Sitemap` lines; a crawl uses fewer.
const MAX_SITEMAPS: usize = 1000;

/// A parsed file, for all user agents.
#[derive(Debug, Clone, Default)]
pub struct Robots {
    groups: Vec<Group>,
    sitemaps: Vec<String>,
    denied: Option<DenyReason>,
}

/// Reason for disallowing everything without a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DenyReason {
    /// The server answered with an error.
    Server,
    /// The server could not be reached.
    Network,
}

/// A group: user agents and the rules that follow them.
#[derive(Debug, Clone, Default)]
struct Group {
    agents: Vec<Agent>,
    rules: Vec<Rule>,
    /// Each `Crawl-delay` in file order, with the number of agents before it. Storing one per agent would take quadratic
    /// memory for a file of alternating names and delays.
    delays: Vec<(usize, Duration)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Agent {
    All,
    /// Product token in lower case.
    Named(String),
}

impl Robots {
    /// Parses a file: any bytes, any line endings, with or without byte-order mark.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut robots = Self::default();
        let mut group = Group::default();
        for (number, line) in lines(whole_lines(bytes)) {
            match line {
                Line::Agent(name) => {
                    // A user agent after a rule begins a new group; other lines between user agents do not.
                    if !group.rules.is_empty() {
                        robots.groups.push(std::mem::take(&mut group));
                    }
                    group.agents.push(agent(&name));
                }
                Line::Rule { allow, pattern } if !group.agents.is_empty() => {
                    group.rules.push(Rule { allow, pattern: pattern.into_owned(), line: number });
                }
                Line::Delay(delay) => group.delay(delay),
                Line::Sitemap(url) if robots.sitemaps.len() < MAX_SITEMAPS => robots.sitemaps.push(url.into_owned()),
                Line::Sitemap(_) | Line::Rule { .. } => {}
            }
        }
        robots.groups.push(group);
        robots
    }

    /// Returns the rules of a missing file, which allow everything.
    #[must_use]
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Returns the rules for one user agent: its own groups combined, otherwise those for `*`. `agent` is a product token
    /// or a complete `User-Agent`, whose leading letters, `-` and `_` are the token.
    #[must_use]
    pub fn rules(&self, agent: &str) -> Rules {
        let own = Agent::Named(token(agent));
        // An empty token matches no group, so that `User-agent: 008` does not apply to an agent without letters.
        let named = own != Agent::Named(String::new()) && self.groups.iter().any(|group| group.agents.contains(&own));
        let wanted = if named { own } else { Agent::All };
        let groups = self.groups.iter().filter(|group| group.agents.contains(&wanted));
        let delay = groups.clone().filter_map(|group| group.delay_of(&wanted)).max();
        Rules::new(groups.flat_map(|group| group.rules.iter().cloned()).collect(), delay, self.denied)
    }

    /// Returns whether a user agent may fetch a path with its query. For many paths call [`Robots::rules`] once.
    #[must_use]
    pub fn allows(&self, agent: &str, path_and_query: &str) -> bool {
        self.rules(agent).allows(path_and_query)
    }

    /// Returns the values of the `Sitemap` lines as written, up to a limit.
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Returns whether the site failed or could not be reached, so that everything is disallowed for now.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.denied.is_some()
    }

    /// Returns the memory of the file in bytes, for caches.
    #[must_use]
    pub fn size(&self) -> usize {
        let sitemaps = self.sitemaps.iter().map(|line| size_of::<String>() + line.capacity());
        size_of::<Self>() + sitemaps.sum::<usize>() + self.groups.iter().map(Group::size).sum::<usize>()
    }
}

impl Group {
    fn size(&self) -> usize {
        let agent = |agent: &Agent| match agent {
            Agent::All => size_of::<Agent>(),
            Agent::Named(name) => size_of::<Agent>() + name.capacity(),
        };
        let agents = self.agents.iter().map(agent).sum::<usize>();
        let rules = self.rules.iter().map(Rule::size).sum::<usize>();
        size_of::<Self>() + agents + rules + self.delays.capacity() * size_of::<(usize, Duration)>()
    }

    fn delay(&mut self, delay: Duration) {
        let agents = self.agents.len();
        match self.delays.last_mut() {
            Some((same, longest)) if *same == agents => *longest = delay.max(*longest),
            _ => self.delays.push((agents, delay)),
        }
    }

    fn delay_of(&self, agent: &Agent) -> Option<Duration> {
        let place = self.agents.iter().position(|other| other == agent)?;
        self.delays.iter().filter(|(agents, _)| *agents > place).map(|(_, delay)| *delay).max()
    }
}

/// Returns the file up to the limit, without the truncated line.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= MAX_ROBOTS_BYTES {
        return bytes;
    }
    let read = &bytes[..MAX_ROBOTS_BYTES];
    let end = read.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    &read[..end]
}

fn agent(name: &str) -> Agent {
    match name.strip_prefix('*') {
        Some(rest) if rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace()) => Agent::All,
        _ => Agent::Named(token(name)),
    }
}

/// Returns the product token at the beginning of a name (RFC 9309 section 2.2.1), in lower case.
fn token(name: &str) -> String {
    name.chars()
        .take_while(|c| c.is_ascii_alphabetic() || matches!(c, '-' | '_'))
        .collect::<String>()
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, agent: &str, path: &str, allowed: bool) {
        assert_eq!(Robots::parse(file.as_bytes()).allows(agent, path), allowed, "{agent} {path} by\n{file}");
    }

    #[test]
    fn groups() {
        let file = "Disallow: /early\nUser-agent: A\nDisallow: /a\n\nUser-agent: B\nUser-agent: C\nDisallow: /bc\n\
                    User-agent: a\nDisallow: /a2\nUser-agent: *\nDisallow: /\n";
        check(file, "A", "/early", true);
        check(file, "A", "/a", false);
        check(file, "a/1.0 (+http://a.test)", "/a2", false);
        check(file, "A", "/bc", true);
        check(file, "B", "/bc", false);
        check(file, "C", "/bc", false);
        check(file, "D", "/", false);
        check(file, "A-News", "/x", false);
        check("User-agent: *\nDisallow: /\nUser-agent: A\n", "A", "/x", true);
        check("User-agent: A\nCrawl-delay: 1\nUser-agent: *\nDisallow: /d\n", "A", "/d", false);
        check("User-agent: * # all\nDisallow: /\n", "A", "/d", false);
        check("User-agent: *\nDisallow: /a\nUser-agent: 008\nDisallow: /\n", "*", "/b", true);
        check("User-agent: *bot\nDisallow: /\n", "A", "/d", true);
    }

    #[test]
    fn line_ends_and_marks() {
        for file in [
            "User-agent: *\nDisallow: /x\n",
            "User-agent: *\rDisallow: /x",
            "\u{feff}User-agent: *\r\n\r\nDisallow: /x\r\n",
            " user-AGENT :*\t\n\tDISALLOW\t:/x # no\n",
            "User agent *\ndisalow /x\n",
            "useragent:*\nDissallow:/x\n",
        ] {
            check(file, "A", "/x", false);
            check(file, "A", "/y", true);
        }
        check("<html>User-agent: *<br>Disallow: /</html>", "A", "/x", true);
        let broken = b"User-agent: *\nDisallow: /\xff\nDisallow: /x\n";
        assert!(!Robots::parse(broken).allows("A", "/x"));
        assert!(!Robots::parse(broken).allows("A", "/%FF"));
        let utf16: Vec<u8> = "\u{feff}User-agent: *\nDisallow: /\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(Robots::parse(&utf16).allows("A", "/x"));
    }

    #[test]
    fn long_files_are_cut_at_a_line() {
        let mut file = format!("User-agent: *\nDisallow: /x\n{}", "#".repeat(MAX_ROBOTS_BYTES - 42));
        file.push_str("\nDisallow: /private/only\n");
        assert!(!Robots::parse(file.as_bytes()).allows("A", "/x"));
        assert!(Robots::parse(file.as_bytes()).allows("A", "/public"));
    }

    #[test]
    fn delays_and_sitemaps() {
        let file = "Sitemap: https://a.test/s.xml\nUser-agent: A\nUser-agent: B\nCrawl-delay: 2.5\nDisallow: /x\n\
                    user-agent: *\ncrawl-delay: 10\nCrawl-delay: inf\nCrawl-delay: abc\nCrawl-delay: -1\nSITE-MAP:/t.xml\n";
        let robots = Robots::parse(file.as_bytes());
        assert_eq!(robots.rules("B").crawl_delay(), Some(Duration::from_millis(2500)));
        assert_eq!(robots.rules("C").crawl_delay(), Some(Duration::from_secs(10)));
        assert_eq!(Robots::allow_all().rules("C").crawl_delay(), None);
        assert_eq!(robots.sitemaps(), ["https://a.test/s.xml", "/t.xml"]);
    }
}
