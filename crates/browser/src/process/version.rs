//! Version of the installed Chromium.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use parking_lot::Mutex;
use tokio::process::Command;

/// Cached versions by program and modification time.
static KNOWN: Mutex<Option<HashMap<Known, String>>> = Mutex::new(None);

type Known = (PathBuf, Option<std::time::SystemTime>);

/// Returns the version of a program, such as `156.0.8078.79`. Cached. It must be known before the start, because a flag
/// contains it.
pub(super) async fn of(program: &Path) -> Result<String, String> {
    let changed = program.metadata().and_then(|meta| meta.modified()).ok();
    let key = (program.to_owned(), changed);
    if let Some(version) = KNOWN.lock().as_ref().and_then(|known| known.get(&key).cloned()) {
        return Ok(version);
    }
    let mut command = Command::new(program);
    command.arg("--version").env_clear().stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = read(&text).ok_or("`--version` printed no version")?.to_owned();
    KNOWN.lock().get_or_insert_default().insert(key, version.clone());
    Ok(version)
}

/// Parses the output, such as `Chromium 156.0.8078.79 built on Debian`.
fn read(text: &str) -> Option<&str> {
    let is_version = |word: &&str| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.split_whitespace().find(is_version)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn versions_are_found_in_what_it_says() {
        assert_eq!(read("Chromium 156.0.8078.79 built on Debian GNU/Linux\n"), Some("156.0.8078.79"));
        assert_eq!(read("Google Chrome 150.0.1.2"), Some("150.0.1.2"));
        assert_eq!(read("error: no."), None);
    }
}
