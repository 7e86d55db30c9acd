//! Sources of the ad-blocking rules.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use adblock::Engine;
use adblock::lists::{FilterSet, ParseOptions};

/// Rules that are used without filter lists of the operator.
const BUILT_IN: &str = include_str!("built_in.txt");
/// Size limit of all lists together, in bytes. The default lists have 10 MB.
const MAX_BYTES: u64 = 100 << 20;
/// Name of the cache file with the compiled rules, next to the lists.
const READY: &str = ".ready";

/// Returns the rules of all `*.txt` in the folder, or the built-in rules if there are none.
pub(super) fn engine(folder: Option<&Path>) -> Engine {
    let lists = folder.map(|folder| (folder, find(folder)));
    match lists {
        Some((folder, Ok(lists))) if !lists.is_empty() => from(folder, &lists),
        Some((folder, Err(error))) => {
            tracing::warn!(%error, folder = %folder.display(), "cannot read the filter lists; the short built-in list is used");
            built_in()
        }
        _ => built_in(),
    }
}

fn built_in() -> Engine {
    let mut set = FilterSet::new(false);
    set.add_filter_list(BUILT_IN.to_owned(), ParseOptions::default());
    Engine::new_with_filter_set(set)
}

/// Returns the lists by name, each with a fingerprint (size and modification time).
fn find(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut lists = Vec::new();
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let meta = path.metadata()?;
            bytes += meta.len();
            lists.push((path, format!("{} {:?}", meta.len(), meta.modified().ok())));
        }
    }
    if bytes > MAX_BYTES {
        return Err(io::Error::other(format!("the lists have more than {} MiB together", MAX_BYTES >> 20)));
    }
    lists.sort();
    Ok(lists)
}

/// Loads the cached rules if the lists have not changed, which takes a tenth of the time of compiling them.
fn from(folder: &Path, lists: &[(PathBuf, String)]) -> Engine {
    let ready = folder.join(READY);
    let state = format!("{lists:?}");
    if let Some(engine) = load(&ready, &state) {
        return engine;
    }
    let mut set = FilterSet::new(false);
    set.add_filter_list(BUILT_IN.to_owned(), ParseOptions::default());
    for (path, _) in lists {
        match fs::read_to_string(path) {
            Ok(list) => drop(set.add_filter_list(list, ParseOptions::default())),
            Err(error) => tracing::warn!(%error, list = %path.display(), "cannot read a filter list; it is ignored"),
        }
    }
    let engine = Engine::new_with_filter_set(set);
    if let Err(error) = store(&ready, &state, &engine) {
        tracing::debug!(%error, "could not cache the filter lists; they are compiled again at the next start");
    }
    engine
}

fn load(ready: &Path, state: &str) -> Option<Engine> {
    let bytes = fs::read(ready).ok()?;
    let rules = bytes.strip_prefix(state.as_bytes())?.strip_prefix(b"\n")?;
    let mut engine = Engine::default();
    engine.deserialize(rules).ok()?;
    Some(engine)
}

fn store(ready: &Path, state: &str, engine: &Engine) -> io::Result<()> {
    let bytes = [state.as_bytes(), b"\n", &engine.serialize()].concat();
    let new = ready.with_extension("new");
    // Written to a temporary file first, so that a crash leaves no truncated cache.
    fs::write(&new, bytes)?;
    fs::rename(new, ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adblock::request::Request;

    fn blocks(engine: &Engine, host: &str) -> bool {
        let request = Request::new(&format!("https://{host}/x.js"), "https://a.example/", "script", "GET").unwrap();
        engine.check_network_request(&request).should_block()
    }

    #[test]
    fn lists_of_a_folder_are_kept_ready_until_they_change() {
        let folder = tempfile::tempdir().unwrap();
        assert!(blocks(&engine(Some(folder.path())), "x.adnxs.com"));
        fs::write(folder.path().join("mine.txt"), "||tracker.example^\n").unwrap();
        for _ in 0..2 {
            let engine = engine(Some(folder.path()));
            assert!(blocks(&engine, "tracker.example") && blocks(&engine, "x.adnxs.com"));
            assert!(!blocks(&engine, "other.example"));
            assert!(folder.path().join(READY).is_file());
        }
        fs::write(folder.path().join("more.txt"), "||other.example^\n").unwrap();
        assert!(blocks(&engine(Some(folder.path())), "other.example"));
        fs::write(folder.path().join(READY), "nonsense").unwrap();
        assert!(blocks(&engine(Some(folder.path())), "other.example"));
    }
}
