//! Patterns of the wanted and unwanted parts of a site.

use crawl_frontier::{Reach, Scope, ScopeOptions};
use url::Url;

use super::Wishes;
use super::targets::{Side, Target};
use crate::scope;

/// Wanted and unwanted parts.
#[derive(Default)]
pub(super) struct Parts {
    include: Vec<Target>,
    exclude: Vec<Target>,
}

impl Parts {
    /// Adds a part; returns `false` if it is wanted and unwanted at once.
    pub(super) fn add(&mut self, side: Side, target: Target) -> bool {
        let (own, other) = match side {
            Side::Include => (&mut self.include, &self.exclude),
            Side::Exclude => (&mut self.exclude, &self.include),
        };
        let pattern = target.pattern();
        if other.iter().any(|other| other.pattern() == pattern) {
            return false;
        }
        if own.iter().all(|known| known.pattern() != pattern) {
            own.push(target);
        }
        true
    }

    /// Writes the patterns into the options. Returns `false` if the start is unwanted, so that nothing would be crawled.
    pub(super) fn apply(self, start: &Url, wishes: &mut Wishes) -> bool {
        let patterns = |targets: &[Target]| targets.iter().map(Target::pattern).collect::<Vec<_>>();
        let options = &mut wishes.options;
        let is_whole_host = |target: &Target| target.is_host(start);
        if self.exclude.iter().any(is_whole_host) {
            return false;
        }
        if !self.include.is_empty() {
            if self.include.iter().any(|target| target.is_outside(start))
                && !*options.crawl_entire_domain.get_or_insert(true)
            {
                return false;
            }
            if self.include.iter().any(is_whole_host) {
                options.crawl_entire_domain.get_or_insert(true);
            } else {
                options.include_paths = Some(patterns(&self.include));
            }
        }
        if !self.exclude.is_empty() {
            options.exclude_paths = Some(patterns(&self.exclude));
        }
        if scope::excludes(options, start) {
            return false;
        }
        wishes.notes.extend(scope::add_start(options, start));
        true
    }
}

impl Target {
    fn pattern(&self) -> String {
        match self {
            Self::Path(path) => {
                let parts: Vec<String> = path.split('*').map(regex_syntax::escape).collect();
                format!("^{}(/|$)", parts.join("[^/]*"))
            }
            Self::Section(section) => section.pattern(),
            Self::Folder(name) => {
                let words: Vec<String> = name.split(' ').map(regex_syntax::escape).collect();
                format!(r"(?i)(^|/){}([/.]|$)", words.join("[-_]"))
            }
            Self::Files(pattern) => (*pattern).to_owned(),
        }
    }

    /// Whether the host of the start is this section, as `docs.example.com` is for the docs.
    fn is_host(&self, start: &Url) -> bool {
        let label = start.host_str().and_then(|host| host.split_once('.')).map(|(label, _)| label);
        matches!((self, label), (Self::Section(section), Some(label)) if section.is(label))
    }

    /// Whether pages of this part may lie outside the folder of the start.
    fn is_outside(&self, start: &Url) -> bool {
        let mut folder = start.path_segments().into_iter().flatten().filter(|segment| !segment.is_empty());
        match self {
            Self::Path(path) => {
                let Ok(scope) = Scope::new(start, &ScopeOptions::default()) else { return true };
                let fixed = path.split('*').next().unwrap_or_default();
                start.join(fixed).is_ok_and(|url| scope.reach(&url) != Reach::Inside)
            }
            Self::Section(section) => folder.next_back().is_some_and(|last| !section.is(last)),
            Self::Folder(name) => folder.next_back().is_some_and(|last| !last.eq_ignore_ascii_case(name)),
            Self::Files(_) => false,
        }
    }
}
