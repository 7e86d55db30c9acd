//! Folders that are missing, damaged or of another format.

use std::fs;

use page_index::{IndexError, PageIndex, Settings};
use tempfile::TempDir;

use crate::{Fixture, page};

fn open(folder: &std::path::Path) -> Result<PageIndex, IndexError> {
    PageIndex::open(folder, Settings::default())
}

#[test]
fn a_missing_folder_is_made_and_opened_again() {
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("a/b");
    open(&folder).unwrap().writer().unwrap().put(&page("https://a.org/", "A", "a")).unwrap();
    let index = open(&folder).unwrap();
    assert_eq!((index.stats().unwrap().pages, index.folder()), (0, folder.as_path()));
    // The making was cut short after its first file.
    fs::remove_file(folder.join("meta.json")).unwrap();
    assert_eq!(open(&folder).unwrap().stats().unwrap().pages, 0);
}

#[test]
fn an_index_of_another_format_is_refused() {
    let fixture = Fixture::with(&[page("https://a.org/", "A", "a")]);
    for format in ["quarry pages 0\n", "", "\u{fffd}"] {
        fs::write(fixture.folder.path().join("format"), format).unwrap();
        assert!(matches!(open(fixture.folder.path()), Err(IndexError::Unreadable { .. })));
    }
    fs::remove_file(fixture.folder.path().join("format")).unwrap();
    let error = open(fixture.folder.path()).unwrap_err();
    assert!(error.to_string().contains("has to be built again"), "{error}");
}

#[test]
fn a_damaged_index_is_an_error_and_no_panic() {
    let pages: Vec<_> =
        (0..50).map(|n| page(&format!("https://a{n}.org/"), "Title", &format!("word{n} apple"))).collect();
    let fixture = Fixture::with(&pages);
    let folder = fixture.folder.path();
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let mut refused = 0;
    for file in files.iter().filter(|file| !file.ends_with(".tantivy-writer.lock") && !file.ends_with(".managed.json"))
    {
        let whole = fs::read(file).unwrap();
        for damaged in [Some(Vec::new()), Some(whole[..whole.len() / 2].to_vec()), None] {
            match &damaged {
                Some(bytes) => fs::write(file, bytes).unwrap(),
                None => fs::remove_file(file).unwrap(),
            }
            match open(folder) {
                Ok(index) => {
                    let query = page_index::Query::parse("apple");
                    let _ = index.search(&page_index::Asked::new(&["team-a"], &query), &|| false);
                }
                Err(IndexError::Unreadable { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            fs::write(file, &whole).unwrap();
        }
    }
    assert!(refused > 10, "{refused}");
    assert_eq!(open(folder).unwrap().stats().unwrap().pages, 50);
}
