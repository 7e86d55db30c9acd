//! Temporary profile folder of a browser.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::path::Path;

use children::User;
use tempfile::TempDir;

/// Prefix of the names of all such folders, followed by the id of the process that made it.
const PREFIX: &str = "quarry-chromium-";

/// Creates a folder that only the browser's user can read. It is removed when dropped.
pub(super) fn make(user: Option<User>) -> io::Result<TempDir> {
    sweep(&std::env::temp_dir());
    let folder = tempfile::Builder::new().prefix(&format!("{PREFIX}{}-", std::process::id())).tempdir()?;
    if let Some(user) = user {
        chown(folder.path(), Some(user.uid), Some(user.gid))?;
    }
    Ok(folder)
}

/// Removes folders of processes that were killed.
fn sweep(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse::<u32>().ok());
        // Without `/proc` no process seems to exist, so nothing is removed then.
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) && Path::new("/proc/self").exists()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let all = ["quarry-chromium-4194304-x", "quarry-chromium-1-x", "other-4194304-x", "quarry-chromium-x"];
        for name in all {
            fs::create_dir(temporary.path().join(name)).unwrap();
        }
        sweep(temporary.path());
        assert_eq!(all.map(|name| temporary.path().join(name).exists()), [false, true, true, true]);
    }
}
