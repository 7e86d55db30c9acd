//! Detection of links to files that are not pages, by their extension.

/// Extensions of files without text, sorted, in lower case. Documents that the service can parse, text formats (json, xml,
/// txt, csv) and feeds are not listed. Images are, because few contain text and every page has many.
const SKIPPED: &[&str] = &[
    "7z",
    "aac",
    "aiff",
    "apk",
    "appimage",
    "avi",
    "avif",
    "bin",
    "bmp",
    "bz2",
    "cab",
    "css",
    "deb",
    "dll",
    "dmg",
    "dylib",
    "ear",
    "eot",
    "eps",
    "exe",
    "flac",
    "flv",
    "gif",
    "gz",
    "heic",
    "heif",
    "ico",
    "img",
    "ipa",
    "iso",
    "j2c",
    "j2k",
    "jar",
    "jfif",
    "jp2",
    "jpeg",
    "jpf",
    "jpg",
    "jpx",
    "js",
    "jxl",
    "lz",
    "lzma",
    "m3u8",
    "m4a",
    "m4v",
    "map",
    "mid",
    "midi",
    "mjs",
    "mkv",
    "mov",
    "mp3",
    "mp4",
    "mpeg",
    "mpg",
    "msi",
    "oga",
    "ogg",
    "ogv",
    "opus",
    "otf",
    "pkg",
    "png",
    "psd",
    "pyc",
    "rar",
    "rpm",
    "so",
    "svg",
    "svgz",
    "swf",
    "tar",
    "tbz2",
    "tgz",
    "tif",
    "tiff",
    "torrent",
    "ttf",
    "txz",
    "war",
    "wasm",
    "wav",
    "webm",
    "webmanifest",
    "webp",
    "whl",
    "wma",
    "wmv",
    "woff",
    "woff2",
    "xpi",
    "xz",
    "z",
    "zip",
    "zst",
];

/// Returns whether the last segment of a path names an image, audio or video file, font, archive, program, style sheet or
/// script, in any letter case. `/wiki/File:Cat.jpg` does not count: with a colon it is a page about a file.
#[must_use]
pub fn is_skipped_file(path: &str) -> bool {
    extension(path).is_some_and(|ending| {
        let ending = ending.to_ascii_lowercase();
        SKIPPED.binary_search(&ending.as_str()).is_ok()
    })
}

/// Returns whether the last segment of a path is a file and not a folder without its slash: `a.html`, but not `v1.2`.
pub(crate) fn is_file(path: &str) -> bool {
    extension(path).is_some_and(|ending| {
        (2..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// Returns the extension of the last segment, without the parameters after `;`.
fn extension(path: &str) -> Option<&str> {
    let segment = path.rsplit('/').next()?;
    let name = segment.split(';').next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty() && !ending.is_empty() && !stem.contains(':')).then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, skipped: bool) {
        assert_eq!(is_skipped_file(path), skipped, "{path}");
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(SKIPPED.is_sorted());
    }

    #[test]
    fn files_without_words_are_skipped() {
        for path in ["/a.png", "/a/B.JPG", "/x.tar.gz", "/app.js;v=1", "/font.Woff2", "/p.zip"] {
            check(path, true);
        }
    }

    #[test]
    fn pages_and_documents_are_not() {
        for path in [
            "/",
            "/a",
            "/a.html",
            "/a.pdf",
            "/a.DOCX",
            "/a.csv",
            "/a.json",
            "/feed.xml",
            "/png",
            "/.png",
            "/a.png/",
            "/wiki/File:Cat.jpg",
            "/v1.2",
            "/a.",
        ] {
            check(path, false);
        }
    }

    #[test]
    fn folders_with_dots() {
        for (path, file) in [("/a.html", true), ("/a.php", true), ("/v1.2", false), ("/1.x", false), ("/docs", false)] {
            assert_eq!(is_file(path), file, "{path}");
        }
    }
}
