//! User that a browser runs as: never root, because Chromium has no sandbox for root.

use std::fs;

use children::User;

use crate::error::BrowserError;
use crate::settings::Settings;

/// Returns the configured user if the service runs as root; otherwise `None`, because it cannot switch users.
pub(super) fn of(settings: &Settings) -> Result<Option<User>, BrowserError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = read(&settings.user, &known).filter(|user| user.uid != 0);
    user.map(Some).ok_or_else(|| BrowserError::Unavailable {
        reason: format!(
            "browser.user `{}` is unknown or root; set it to the name or id of another user",
            settings.user
        ),
    })
}

impl Settings {
    /// Returns the user for browsers and other untrusted programs; `None` means that of the service.
    #[must_use]
    pub fn user_of_programs(&self) -> Option<User> {
        of(self).ok().flatten()
    }
}

/// Parses `name`, `uid` or `uid:gid` with the lines of passwd(5).
fn read(text: &str, passwd: &str) -> Option<User> {
    if let Some((uid, gid)) = text.split_once(':') {
        return Some(User { uid: uid.parse().ok()?, gid: gid.parse().ok()? });
    }
    let line = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut line = line.filter(|fields| fields.len() > 3 && (fields[0] == text || fields[2] == text));
    match line.next() {
        Some(fields) => Some(User { uid: fields[2].parse().ok()?, gid: fields[3].parse().ok()? }),
        None => text.parse().ok().map(|id| User { uid: id, gid: id }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_by_name_and_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin\n";
        let check = |text: &str, expect: Option<(u32, u32)>| {
            assert_eq!(read(text, passwd).map(|user| (user.uid, user.gid)), expect, "{text}");
        };
        check("nobody", Some((65534, 65533)));
        check("65534", Some((65534, 65533)));
        check("1000", Some((1000, 1000)));
        check("1000:100", Some((1000, 100)));
        check("stranger", None);
        check("", None);
    }
}
