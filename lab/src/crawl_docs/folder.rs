//! A folder of files as a web server sees it: file and content type of a URL.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::{Reply, Site};
use url::Url;

/// A folder that is served from its root.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
}

/// What an address leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file, by its path below the root: `a/index.html` for `/a/`.
    File(String),
    /// A folder that was named without its slash.
    Slashless,
    /// Nothing.
    Nowhere,
}

/// What a reader can do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page with links.
    Html,
    /// Words without HTML.
    Text,
    /// No words, or none that are meant for a reader.
    Other,
}

/// Types by the end of the name; what is not in it is a file of bytes.
const TYPES: [(&str, &str, Kind); 25] = [
    ("html", "text/html", Kind::Html),
    ("htm", "text/html", Kind::Html),
    ("xhtml", "application/xhtml+xml", Kind::Html),
    ("txt", "text/plain", Kind::Text),
    ("md", "text/markdown", Kind::Text),
    ("rst", "text/plain", Kind::Text),
    ("csv", "text/csv", Kind::Text),
    ("py", "text/x-python", Kind::Text),
    ("json", "application/json", Kind::Text),
    ("xml", "application/xml", Kind::Text),
    ("css", "text/css", Kind::Other),
    ("js", "text/javascript", Kind::Other),
    ("svg", "image/svg+xml", Kind::Other),
    ("png", "image/png", Kind::Other),
    ("jpg", "image/jpeg", Kind::Other),
    ("jpeg", "image/jpeg", Kind::Other),
    ("gif", "image/gif", Kind::Other),
    ("ico", "image/x-icon", Kind::Other),
    ("ttf", "font/ttf", Kind::Other),
    ("woff", "font/woff", Kind::Other),
    ("woff2", "font/woff2", Kind::Other),
    ("pdf", "application/pdf", Kind::Other),
    ("gz", "application/gzip", Kind::Other),
    ("zip", "application/zip", Kind::Other),
    ("sh", "application/x-sh", Kind::Other),
];

impl Folder {
    /// The folder at this path.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// What a path of an address, with its escapes and without its query, leads to. Symbolic links are followed, also
    /// out of the folder, as documentation packages share files.
    pub(crate) fn place(&self, path: &str) -> Place {
        // A URL of a file undoes the escapes and takes the steps upwards.
        let below = Url::parse(&format!("file://{path}")).ok().and_then(|url| url.to_file_path().ok());
        let below = below.as_deref().and_then(|path| path.strip_prefix("/").ok()?.to_str().map(str::to_owned));
        let Some(below) = below else { return Place::Nowhere };
        let is_folder = self.root.join(&below).is_dir();
        if is_folder && !path.ends_with('/') {
            return Place::Slashless;
        }
        let below = match (is_folder, below.trim_end_matches('/')) {
            (true, "") => "index.html".to_owned(),
            (true, folder) => format!("{folder}/index.html"),
            (false, file) => file.to_owned(),
        };
        // With a slash after it, a file is no file.
        let is_file = self.root.join(&below).is_file() && (is_folder || !path.ends_with('/'));
        if is_file { Place::File(below) } else { Place::Nowhere }
    }

    /// The bytes of a file that [`Folder::place`] named.
    pub(crate) fn read(&self, file: &str) -> std::io::Result<Vec<u8>> {
        fs::read(self.root.join(file))
    }

    /// Serves it on loopback: 404 for what is not there, and a redirect to a folder's slash.
    pub(crate) async fn serve(&self) -> Site {
        let site = Site::start().await;
        let folder = self.clone();
        site.others(move |seen| folder.answer(seen.path.split('?').next()?));
        site
    }

    fn answer(&self, path: &str) -> Option<Reply> {
        match self.place(path) {
            Place::Nowhere => None,
            Place::Slashless => Some(Reply { status: 301, ..Reply::default() }.header("location", &format!("{path}/"))),
            Place::File(file) => {
                let reply = Reply { body: self.read(&file).ok()?.into(), ..Reply::default() };
                Some(reply.header("content-type", type_of(&file).0))
            }
        }
    }
}

/// The media type of a file by its name, and what a reader can do with it.
pub(crate) fn type_of(file: &str) -> (&'static str, Kind) {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let known = TYPES.iter().find(|(name, ..)| ending.eq_ignore_ascii_case(name));
    known.map_or(("application/octet-stream", Kind::Other), |(_, media, kind)| (*media, *kind))
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
        let file = |name: &str| Place::File(name.to_owned());
        for (path, expect) in [
            ("/", file("index.html")),
            ("/index.html", file("index.html")),
            ("/x.txt", file("x.txt")),
            ("/%78.txt", file("x.txt")),
            ("/x.txt/", Place::Nowhere),
            ("/a%20b/", file("a b/index.html")),
            ("/a%20b", Place::Slashless),
            ("/a%20b/empty/", Place::Nowhere),
            ("/../x.txt", file("x.txt")),
            ("/%2e%2e/%2e%2e/etc/passwd", Place::Nowhere),
            ("/y", Place::Nowhere),
        ] {
            assert_eq!(folder.place(path), expect, "{path}");
        }
        assert_eq!(type_of("a/B.HTML"), ("text/html", Kind::Html));
        assert_eq!(type_of("a.b/c"), ("application/octet-stream", Kind::Other));
    }
}
