//! A folder of files as a web server sees it: file and content type of a URL.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::{Reply, Site};
use url::Url;

/// A folder served as the root of a site.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
}

/// Target of a URL path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PathTarget {
    /// A file, by its path below the root: `a/index.html` for `/a/`.
    File(String),
    /// A folder requested without its trailing slash.
    Slashless,
    /// No file or folder.
    Nowhere,
}

/// Kind of content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentKind {
    /// A page with links.
    Html,
    /// Text without HTML.
    Text,
    /// No text, or none for readers.
    Other,
}

/// Media types by file extension; unknown ones are binary.
const TYPES: [(&str, &str, ContentKind); 25] = [
    ("html", "text/html", ContentKind::Html),
    ("htm", "text/html", ContentKind::Html),
    ("xhtml", "application/xhtml+xml", ContentKind::Html),
    ("txt", "text/plain", ContentKind::Text),
    ("md", "text/markdown", ContentKind::Text),
    ("rst", "text/plain", ContentKind::Text),
    ("csv", "text/csv", ContentKind::Text),
    ("py", "text/x-python", ContentKind::Text),
    ("json", "application/json", ContentKind::Text),
    ("xml", "application/xml", ContentKind::Text),
    ("css", "text/css", ContentKind::Other),
    ("js", "text/javascript", ContentKind::Other),
    ("svg", "image/svg+xml", ContentKind::Other),
    ("png", "image/png", ContentKind::Other),
    ("jpg", "image/jpeg", ContentKind::Other),
    ("jpeg", "image/jpeg", ContentKind::Other),
    ("gif", "image/gif", ContentKind::Other),
    ("ico", "image/x-icon", ContentKind::Other),
    ("ttf", "font/ttf", ContentKind::Other),
    ("woff", "font/woff", ContentKind::Other),
    ("woff2", "font/woff2", ContentKind::Other),
    ("pdf", "application/pdf", ContentKind::Other),
    ("gz", "application/gzip", ContentKind::Other),
    ("zip", "application/zip", ContentKind::Other),
    ("sh", "application/x-sh", ContentKind::Other),
];

impl Folder {
    /// Creates a folder from its path.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Resolves the escaped path of a URL, without its query. Symbolic links are followed, also out of the folder,
    /// because documentation packages share files.
    pub(crate) fn target(&self, path: &str) -> PathTarget {
        // Parsing as a file URL decodes the escapes and resolves `..`.
        let below = Url::parse(&format!("file://{path}")).ok().and_then(|url| url.to_file_path().ok());
        let below = below.as_deref().and_then(|path| path.strip_prefix("/").ok()?.to_str().map(str::to_owned));
        let Some(below) = below else { return PathTarget::Nowhere };
        let is_folder = self.root.join(&below).is_dir();
        if is_folder && !path.ends_with('/') {
            return PathTarget::Slashless;
        }
        let below = match (is_folder, below.trim_end_matches('/')) {
            (true, "") => "index.html".to_owned(),
            (true, folder) => format!("{folder}/index.html"),
            (false, file) => file.to_owned(),
        };
        // A file name followed by a slash is not found.
        let is_file = self.root.join(&below).is_file() && (is_folder || !path.ends_with('/'));
        if is_file { PathTarget::File(below) } else { PathTarget::Nowhere }
    }

    /// Reads a file returned by [`Folder::target`].
    pub(crate) fn read(&self, file: &str) -> std::io::Result<Vec<u8>> {
        fs::read(self.root.join(file))
    }

    /// Serves the folder on loopback: 404 for missing files, and a redirect to the trailing slash of a folder.
    pub(crate) async fn serve(&self) -> Site {
        let site = Site::start().await;
        let folder = self.clone();
        site.others(move |seen| folder.answer(seen.path.split('?').next()?));
        site
    }

    fn answer(&self, path: &str) -> Option<Reply> {
        match self.target(path) {
            PathTarget::Nowhere => None,
            PathTarget::Slashless => {
                Some(Reply { status: 301, ..Reply::default() }.header("location", &format!("{path}/")))
            }
            PathTarget::File(file) => {
                let reply = Reply { body: self.read(&file).ok()?.into(), ..Reply::default() };
                Some(reply.header("content-type", type_of(&file).0))
            }
        }
    }
}

/// Returns the media type of a file by its name, and its kind.
pub(crate) fn type_of(file: &str) -> (&'static str, ContentKind) {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let known = TYPES.iter().find(|(name, ..)| ending.eq_ignore_ascii_case(name));
    known.map_or(("application/octet-stream", ContentKind::Other), |(_, media, kind)| (*media, *kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_files() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a b/empty")).unwrap();
        for file in ["index.html", "x.txt", "a b/index.html"] {
            fs::write(root.path().join(file), "x").unwrap();
        }
        let folder = Folder::at(root.path());
        let file = |name: &str| PathTarget::File(name.to_owned());
        for (path, expect) in [
            ("/", file("index.html")),
            ("/index.html", file("index.html")),
            ("/x.txt", file("x.txt")),
            ("/%78.txt", file("x.txt")),
            ("/x.txt/", PathTarget::Nowhere),
            ("/a%20b/", file("a b/index.html")),
            ("/a%20b", PathTarget::Slashless),
            ("/a%20b/empty/", PathTarget::Nowhere),
            ("/../x.txt", file("x.txt")),
            ("/%2e%2e/%2e%2e/etc/passwd", PathTarget::Nowhere),
            ("/y", PathTarget::Nowhere),
        ] {
            assert_eq!(folder.target(path), expect, "{path}");
        }
        assert_eq!(type_of("a/B.HTML"), ("text/html", ContentKind::Html));
        assert_eq!(type_of("a.b/c"), ("application/octet-stream", ContentKind::Other));
    }
}
