//! Sections of sites and file types by their names.

/// Section of a site.
pub(super) struct Section {
    /// Names in a prompt, in lower case; a name of several words has spaces.
    names: &'static [&'static str],
    /// Segments of paths that are this section, as an alternation of a regular expression.
    pub(super) segments: &'static str,
    /// Whether the name alone is too common a word: a noun such as `pages` or `section` has to follow it.
    pub(super) needs_noun: bool,
}

const fn section(names: &'static [&'static str], segments: &'static str) -> Section {
    Section { names, segments, needs_noun: false }
}

const fn common(names: &'static [&'static str], segments: &'static str) -> Section {
    Section { names, segments, needs_noun: true }
}

/// Sections whose place in paths is the same on nearly all sites.
static SECTIONS: &[Section] = &[
    section(&["blog", "blogs"], "blogs?"),
    section(&["docs", "documentation", "doc"], "docs?|documentation"),
    section(&["news"], "news"),
    section(&["changelog", "changelogs", "change log"], "change-?logs?"),
    section(&["release notes"], "release-?notes"),
    section(&["faq", "faqs"], "faqs?"),
    section(&["product", "products"], "products?"),
    section(&["event", "events"], "events?"),
    section(&["tutorial", "tutorials"], "tutorials?"),
    section(&["guide", "guides"], "guides?"),
    section(&["recipe", "recipes"], "recipes?"),
    section(&["forum", "forums"], "forums?"),
    section(&["wiki"], "wiki"),
    section(&["podcast", "podcasts"], "podcasts?"),
    section(&["webinar", "webinars"], "webinars?"),
    section(&["careers"], "careers"),
    section(&["jobs"], "jobs"),
    section(&["case studies", "case study"], "case-?stud(y|ies)"),
    section(&["privacy policy"], "privacy(-?policy)?"),
    section(&["login"], "log-?in"),
    section(&["signup"], "sign-?up"),
    section(&["checkout"], "checkout"),
    section(&["cart"], "cart"),
    section(&["pricing"], "pricing"),
    section(&["changelog entries"], "change-?logs?"),
    common(&["about"], "about(-?us)?"),
    common(&["contact"], "contact(-?us)?"),
    common(&["support"], "support"),
    common(&["help"], "help"),
    common(&["tag", "tags"], "tags?"),
    common(&["category", "categories"], "categor(y|ies)"),
    common(&["author", "authors"], "authors?"),
    common(&["archive", "archives"], "archives?"),
    common(&["press"], "press"),
    common(&["team"], "team"),
    common(&["account"], "account"),
    common(&["admin"], "admin"),
    common(&["legal"], "legal"),
];

/// File types with the words for them.
static FILE_TYPES: &[(&[&str], &str)] = &[
    (&["pdf", "pdfs"], r"(?i)\.pdf$"),
    (&["docx"], r"(?i)\.docx$"),
    (&["xlsx"], r"(?i)\.xlsx$"),
    (&["pptx"], r"(?i)\.pptx$"),
    (&["csv", "csvs"], r"(?i)\.csv$"),
    (&["zip", "zips"], r"(?i)\.zip$"),
    (&["xml"], r"(?i)\.xml$"),
];

/// Returns the section whose name begins a list of words, and the number of its words; the longest name counts.
pub(super) fn section_of(words: &[&str]) -> Option<(&'static Section, usize)> {
    let names = SECTIONS.iter().flat_map(|section| section.names.iter().map(move |name| (section, *name)));
    let fits = |name: &str| {
        let parts = name.split(' ').count();
        (words.len() >= parts && name.split(' ').eq(words[..parts].iter().copied())).then_some(parts)
    };
    names.filter_map(|(section, name)| Some((section, fits(name)?))).max_by_key(|(_, parts)| *parts)
}

/// Returns the pattern of a file type.
pub(super) fn file_type(word: &str) -> Option<&'static str> {
    FILE_TYPES.iter().find(|(words, _)| words.contains(&word)).map(|(_, pattern)| *pattern)
}

impl Section {
    /// Returns the pattern of paths in this section: one of their segments is it, maybe with a file extension.
    pub(super) fn pattern(&self) -> String {
        format!(r"(?i)(^|/)({})([/.]|$)", self.segments)
    }

    /// Returns whether a segment of a path or the first label of a host is this section.
    pub(super) fn is(&self, segment: &str) -> bool {
        self.names.iter().any(|name| name.replace(' ', "-").eq_ignore_ascii_case(segment))
    }
}
