//! Consistency of the file types that crawls follow and that the service reads.

use crawl_frontier::is_skipped_file;
use documents::{Family, Kind};

#[test]
fn a_crawl_follows_every_document_and_no_picture() {
    for kind in Kind::all() {
        for extension in kind.extensions() {
            let is_picture = kind.family() == Family::Image;
            assert_eq!(is_skipped_file(&format!("/folder/file.{extension}")), is_picture, "{extension}");
        }
    }
}
