//! Version of the installed Chromium.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Output;

use children::User;
use parking_lot::Mutex;

/// Cached versions by program and modification time.
static KNOWN: Mutex<Option<HashMap<Known, String>>> = Mutex::new(None);

type Known = (PathBuf, Option<std::time::SystemTime>);

/// Returns the version of a program, such as `156.0.8078.79`. Cached. It must be known before the start, because a flag
/// contains it.
pub(super) async fn of(program: &Path, user: Option<User>) -> Result<String, String> {
    let changed = program.metadata().and_then(|meta| meta.modified()).ok();
    let key = (program.to_owned(), changed);
    if let Some(version) = KNOWN.lock().as_ref().and_then(|known| known.get(&key).cloned()) {
        return Ok(version);
    }
    let output = ask(program, user).await.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = read(&text).ok_or("`--version` printed no version")?.to_owned();
    KNOWN.lock().get_or_insert_default().insert(key, version.clone());
    Ok(version)
}

/// Runs a program with `--version`, as the user of the browser.
pub(super) async fn ask(program: &Path, user: Option<User>) -> io::Result<Output> {
    children::command(program, user).arg("--version").output().await
}

/// Parses the output, such as `Chromium 156.0.8078.79 built on Debian`.
fn read(text: &str) -> Option<&str> {
    let is_version = |word: &&str| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.split_whitespace().find(is_version)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use tokio::process::Command;

    use super::*;
    use crate::process::user;
    use crate::settings::Settings;

    #[test]
    fn versions_are_found_in_what_it_says() {
        assert_eq!(read("Chromium 156.0.8078.79 built on Debian GNU/Linux\n"), Some("156.0.8078.79"));
        assert_eq!(read("Google Chrome 150.0.1.2"), Some("150.0.1.2"));
        assert_eq!(read("error: no."), None);
    }

    #[tokio::test]
    async fn the_program_is_asked_as_the_user_of_the_browser() {
        let folder = tempfile::tempdir().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let program = folder.path().join("chromium");
        // Written by another process: one that this process has open for writing cannot be started.
        let write = r#"printf '#!/bin/sh\necho Chromium 1.$(/usr/bin/id -u).$(/usr/bin/id -g)' > "$0"; chmod 755 "$0""#;
        let written = Command::new("/bin/sh").arg("-c").arg(write).arg(&program).status().await.unwrap();
        assert!(written.success());
        let user = user::of(&Settings { user: "65533:65532".to_owned(), ..Settings::default() }).unwrap();
        let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let (uid, gid) = user.map_or(own, |user| (user.uid, user.gid));
        assert_eq!(of(&program, user).await, Ok(format!("1.{uid}.{gid}")));
    }
}
