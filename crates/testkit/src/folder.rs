//! Contents of folders.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns all files below a folder, in no particular order.
///
/// # Errors
/// When a folder cannot be read.
pub fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    Ok(found)
}
