//! Local data of a service: existence and the exclusive lock of a SQLite database.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use crate::config::{Config, ConfigError};
use crate::parts::full_disk;

/// Returns the path of the SQLite database; `None` for PostgreSQL.
///
/// # Errors
/// [`ConfigError`] when the data folder has no absolute path.
pub fn database_file(config: &Config) -> Result<Option<PathBuf>, ConfigError> {
    let url = config.store.url.expose();
    if !url.is_empty() {
        return Ok(url.strip_prefix("sqlite://").map(PathBuf::from));
    }
    let folder = &config.data.dir;
    let why = |error: io::Error| ConfigError::new("DATA__DIR", format!("cannot use {}: {error}", folder.display()));
    Ok(Some(std::path::absolute(folder).map_err(why)?.join("quarry.db")))
}

/// Checks that the database exists, for commands that must not create one.
///
/// # Errors
/// [`ConfigError`] with the missing file and the settings that name another.
pub fn must_exist(config: &Config) -> Result<(), ConfigError> {
    let Some(file) = database_file(config)? else { return Ok(()) };
    if fs::metadata(&file).is_ok_and(|known| known.len() > 0) {
        return Ok(());
    }
    let (folder, key) = match config.store.url.is_empty() {
        true => (config.data.dir.clone(), "DATA__DIR"),
        false => (file.clone(), "STORE__URL"),
    };
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let why = format!(
        "there is no data in {}: the database {} does not exist, and none was created; set QUARRY__DATA__DIR or data.dir to \
         the folder of the server (or store.url to its database), or name its settings file with --config; a server creates \
         its data at its first start",
        folder.display(),
        file.display()
    );
    Err(ConfigError::new(key, why))
}

/// Exclusive lock of a SQLite database: one server at a time holds it. Released when dropped and when the process ends,
/// even by a crash.
#[derive(Debug)]
pub struct DataLock {
    _lock: Option<File>,
}

/// Locks the SQLite database for this server. PostgreSQL needs no lock: any number of servers share it.
///
/// # Errors
/// [`ConfigError`] with the process that holds the lock.
pub fn lock(config: &Config) -> Result<DataLock, ConfigError> {
    let Some(database) = database_file(config)? else { return Ok(DataLock { _lock: None }) };
    let file = PathBuf::from(format!("{}.lock", database.display()));
    let why = |error: io::Error| {
        let full = full_disk(config).filter(|_| error.kind() == io::ErrorKind::StorageFull);
        full.unwrap_or_else(|| ConfigError::new("DATA__DIR", format!("cannot use {}: {error}", file.display())))
    };
    if let Some(folder) = database.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(why)?;
    }
    let mut open = File::options();
    let mut lock = open.read(true).write(true).create(true).truncate(false).mode(0o600).open(&file).map_err(why)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Only for the message; the lock itself decides.
            let _ = lock.read_to_string(&mut holder);
            let holder = if holder.is_empty() { "another process" } else { holder.trim() };
            let why = format!(
                "{} is used by {holder}: only one server at a time can use a SQLite database; give this one its own folder \
                 (data.dir), stop the other one, or set store.url to a PostgreSQL database, which any number can share; \
                 quarry-worker and the commands of quarry-server can run next to a server",
                database.display()
            );
            return Err(ConfigError::new("DATA__DIR", why));
        }
        // A file system without locks: serve without the check.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            return Ok(DataLock { _lock: None });
        }
        Err(TryLockError::Error(error)) => return Err(why(error)),
    }
    let own = format!("process {}, which listens on {}\n", std::process::id(), config.server.listen);
    let written = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| lock.write_all(own.as_bytes()));
    // The lock holds even if a full disk prevents the note about its holder.
    if let Err(error) = written {
        tracing::debug!(%error, "could not write the holder into the lock file");
    }
    Ok(DataLock { _lock: Some(lock) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(folder: &std::path::Path) -> Config {
        let mut config = Config::default();
        config.data.dir = folder.join("data");
        config
    }

    #[test]
    fn one_server_at_a_time_has_a_sqlite_database() {
        let folder = tempfile::tempdir().unwrap();
        let config = config(folder.path());
        let first = lock(&config).unwrap();
        let error = lock(&config).unwrap_err().to_string();
        let pid = std::process::id().to_string();
        assert!(error.contains(&pid) && error.contains("127.0.0.1:3002") && error.contains("quarry.db"), "{error}");
        drop(first);
        drop(lock(&config).unwrap());
        let mut shared = config;
        shared.store.url = base::Secret::new("postgres://h/d");
        let _both = (lock(&shared).unwrap(), lock(&shared).unwrap());
    }

    #[test]
    fn a_folder_without_data_is_named_and_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path());
        let error = must_exist(&config).unwrap_err().to_string();
        assert!(error.contains(config.data.dir.to_str().unwrap()) && error.contains("data.dir"), "{error}");
        assert!(!config.data.dir.exists());
        fs::create_dir(&config.data.dir).unwrap();
        fs::write(config.data.dir.join("quarry.db"), "").unwrap();
        assert!(must_exist(&config).is_err(), "an empty file is no data");
        fs::write(config.data.dir.join("quarry.db"), "SQLite").unwrap();
        must_exist(&config).unwrap();
        config.store.url = base::Secret::new("sqlite:///nowhere/q.db");
        let error = must_exist(&config).unwrap_err().to_string();
        assert!(error.starts_with("QUARRY__STORE__URL") && error.contains("/nowhere/q.db"), "{error}");
        config.store.url = base::Secret::new("postgres://h/d");
        must_exist(&config).unwrap();
    }
}
