//! Installed language data of tesseract.

use std::path::{Path, PathBuf};

use crate::Error;

/// Folders where distributions install the data.
const FOLDERS: [&str; 6] = [
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/share/tesseract/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
];
/// Data files that are not languages: orientation, and formulas.
const OTHERS: [&str; 2] = ["osd", "equ"];
/// Maximum number of languages.
const MAX_LANGUAGES: usize = 16;

/// Languages of recognition, the most likely first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Languages {
    folder: PathBuf,
    names: Vec<String>,
}

impl Languages {
    /// Finds language data in a folder, or else where distributions install it. Takes those of `wanted` (`eng`, `deu`,
    /// `chi_sim`) that are installed, in that order; if `wanted` is empty, all that are installed, English first.
    ///
    /// # Errors
    ///
    /// [`Error::NoLanguage`] if that leaves none.
    pub fn find(folder: Option<&Path>, wanted: &[String]) -> Result<Self, Error> {
        let folders: Vec<&Path> = folder.map_or_else(|| FOLDERS.iter().map(Path::new).collect(), |folder| vec![folder]);
        let found = folders.iter().map(|folder| (*folder, installed(folder))).find(|(_, names)| !names.is_empty());
        let Some((folder, installed)) = found else {
            return Err(Error::NoLanguage("no language data was found; install the package tesseract-ocr-eng".into()));
        };
        let mut names: Vec<String> = if wanted.is_empty() {
            installed
        } else {
            wanted.iter().filter(|name| installed.contains(name)).cloned().collect()
        };
        names.truncate(MAX_LANGUAGES);
        if names.is_empty() {
            let packages: Vec<_> =
                wanted.iter().map(|name| format!("tesseract-ocr-{}", name.replace('_', "-"))).collect();
            return Err(Error::NoLanguage(format!("language data is missing; install {}", packages.join(", "))));
        }
        Ok(Self { folder: folder.to_owned(), names })
    }

    /// Returns the folder of the data, which must be readable in a sandbox.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the names of the languages, as tesseract uses them.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// Returns the languages in a folder, English first.
fn installed(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = files
        .filter_map(|file| file.strip_suffix(".traineddata").map(str::to_owned))
        .filter(|name| !OTHERS.contains(&name.as_str()))
        .collect();
    names.sort_by_key(|name| (name != "eng", name.clone()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_taken_in_the_order_wanted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["rus", "eng", "osd", "deu"] {
            std::fs::write(folder.path().join(format!("{name}.traineddata")), b"").unwrap();
        }
        let find = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            Languages::find(Some(folder.path()), &wanted).map(|found| found.names)
        };
        assert_eq!(find(&[]).unwrap(), ["eng", "deu", "rus"]);
        assert_eq!(find(&["rus", "fra", "eng"]).unwrap(), ["rus", "eng"]);
        assert!(find(&["chi_sim"]).unwrap_err().to_string().contains("tesseract-ocr-chi-sim"));
        assert!(Languages::find(Some(&folder.path().join("none")), &[]).is_err());
    }
}
