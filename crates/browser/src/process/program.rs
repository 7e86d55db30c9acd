//! The installed program: its path, and the version that it prints.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{user, version};
use crate::settings::Settings;

/// Time limit for a program to print its version.
const MAX_VERSION: Duration = Duration::from_secs(10);

/// Usual paths of the program itself. The scripts in `/usr/bin` that start it would be killed in its place.
const PATHS: &[&str] = &[
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
];

impl Settings {
    /// Returns the program that visits start; `None` if browsers are disabled or no Chromium is installed. Checks the
    /// disk only.
    #[must_use]
    pub fn program(&self) -> Option<PathBuf> {
        find(self.path.as_deref()).ok().filter(|_| self.enabled)
    }

    /// Runs the program, as the user of browsers, to get its version, such as `Chromium 156.0.8078.79`; `None` if it
    /// cannot be started.
    pub async fn version(&self) -> Option<String> {
        let program = self.program()?;
        let user = user::of(self).inspect_err(|error| tracing::warn!(%error, "no browser can be started")).ok()?;
        let said = tokio::time::timeout(MAX_VERSION, version::ask(&program, user)).await.ok()?.ok()?;
        let text = String::from_utf8(said.stdout).ok()?;
        Some(text.lines().next()?.trim().to_owned()).filter(|text| said.status.success() && !text.is_empty())
    }
}

/// Returns the path of the program: the configured one, or one of the usual paths.
///
/// # Errors
/// A message with a hint what to do if there is none.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, String> {
    let is_there = |path: &PathBuf| path.is_file();
    let found = match named {
        Some(path) => Some(path.to_owned()).filter(is_there),
        None => PATHS.iter().map(PathBuf::from).find(is_there),
    };
    found.ok_or_else(|| match named {
        Some(path) => format!("there is no file at browser.path ({})", path.display()),
        None => "no Chromium is installed; install chromium-headless-shell or set browser.path".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_there_when_its_program_is() {
        let with = |path: &str| Settings { path: Some(path.into()), ..Settings::default() };
        assert_eq!(with("/bin/sh").program(), Some("/bin/sh".into()));
        assert_eq!(with("/nowhere/chromium").program(), None);
        assert_eq!(with("/tmp").program(), None);
        assert_eq!(Settings { enabled: false, ..with("/bin/sh") }.program(), None);
    }
}
