//! The commands `backup` and `restore` for SQLite deployments, and `migrate`.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use boot::config::{Config, Loaded};
use clap::Args;
use serde::{Deserialize, Serialize};
use url::Url;

use super::print;

/// Metadata file in the folder of a backup.
const LABEL: &str = "backup.json";
const DATABASE: &str = "quarry.db";
const BLOBS: &str = "blobs";

#[derive(Args)]
pub(crate) struct Backup {
    /// Folder to create
    #[arg(value_name = "FOLDER")]
    to: PathBuf,
}

#[derive(Args)]
pub(crate) struct Restore {
    /// Folder created by `backup`
    #[arg(value_name = "FOLDER")]
    from: PathBuf,
}

#[derive(Args)]
pub(crate) struct Migrate {
    /// Only list pending migrations; exit with status 1 when there are any
    #[arg(long)]
    check: bool,
}

#[derive(Serialize, Deserialize)]
struct BackupLabel {
    /// Version of the program that created the backup.
    version: String,
    /// Whether page bodies are included; bodies in a bucket are not.
    blobs: bool,
}

/// Paths of the local data.
struct BackupPaths {
    database: PathBuf,
    /// Folder of the page bodies; `None` when they are in a bucket.
    blobs: Option<PathBuf>,
}

impl Backup {
    /// Copies a snapshot of the database, then the bodies. Bodies are written before their rows, so the copy has every
    /// body that the snapshot refers to, except those that expired meanwhile.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let places = BackupPaths::of(&loaded.config)?;
        boot::data::must_exist(&loaded.config)?;
        let store = boot::open_store(&loaded.config).await?;
        ensure!(!self.to.exists(), "{} already exists; name a new folder", self.to.display());
        // The same mode as the data folder.
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.to);
        made.with_context(|| format!("cannot create {}", self.to.display()))?;
        store.copy_to(&self.to.join(DATABASE)).await?;
        let bodies = match &places.blobs {
            Some(blobs) => copy_folder(blobs, &self.to.join(BLOBS))?,
            None => 0,
        };
        // The label is written last: a folder without it is an incomplete backup.
        let label = BackupLabel { version: env!("CARGO_PKG_VERSION").to_owned(), blobs: places.blobs.is_some() };
        write_through(&self.to.join(LABEL), &serde_json::to_vec_pretty(&label)?)?;
        let elsewhere = if places.blobs.is_none() { "; page bodies are in a bucket and not included" } else { "" };
        print(&format!("{}: the database and {bodies} files{elsewhere}\n", self.to.display()))
    }
}

impl Restore {
    /// Restores a backup to the paths of the settings. Existing data is never overwritten, so a running server is safe.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let places = BackupPaths::of(&loaded.config)?;
        let label =
            fs::read(self.from.join(LABEL)).with_context(|| format!("{} is not a backup", self.from.display()))?;
        let label: BackupLabel = serde_json::from_slice(&label).context("the backup.json of the backup is invalid")?;
        let database = &places.database;
        ensure!(
            !database.exists(),
            "{} already exists: stop the server and move the data folder away first",
            database.display()
        );
        if let Some(folder) = database.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let bodies = match &places.blobs {
            Some(blobs) if label.blobs => copy_folder(&self.from.join(BLOBS), blobs)?,
            _ => 0,
        };
        // The database is copied last and renamed into place, so a database under its name is always complete.
        let arriving = database.with_extension("restoring");
        fs::copy(self.from.join(DATABASE), &arriving)
            .with_context(|| format!("cannot write {}", arriving.display()))?;
        fs::File::open(&arriving)?.sync_all()?;
        fs::rename(&arriving, database)?;
        print(&format!("{}: the database and {bodies} files, written by {}\n", database.display(), label.version))
    }
}

impl Migrate {
    /// Runs pending migrations, or lists them with `--check`.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<ExitCode> {
        let mut config = loaded.config;
        // With `store.migrate` off, opening would fail on an outdated schema before this command could report it.
        config.store.migrate = true;
        if self.check {
            boot::data::must_exist(&config)?;
        }
        let store = boot::open_store(&config).await?;
        let names = if self.check { store.pending().await? } else { store.migrate().await? };
        for name in &names {
            print(&format!("{}  {name}\n", if self.check { "missing" } else { "done" }))?;
        }
        if names.is_empty() {
            print("the schema is up to date\n")?;
        }
        Ok(if self.check && !names.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

impl BackupPaths {
    fn of(config: &Config) -> anyhow::Result<Self> {
        let folder = std::path::absolute(&config.data.dir)?;
        let url = config.store.url.expose();
        let database = match url.strip_prefix("sqlite://") {
            Some(path) => PathBuf::from(path),
            None if url.is_empty() => folder.join(DATABASE),
            None => bail!(
                "the database is PostgreSQL: back it up with `pg_dump --format=custom`, restore it with `pg_restore`, and \
                 copy the page bodies with the tools of their store"
            ),
        };
        let blobs = match config.blobs.url.as_str() {
            "" => Some(folder.join(BLOBS)),
            url => Url::parse(url).ok().filter(|url| url.scheme() == "file").and_then(|url| url.to_file_path().ok()),
        };
        Ok(Self { database, blobs })
    }
}

/// Copies a folder recursively and returns the number of files. Files that are removed meanwhile are skipped.
fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<u64> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let mut count = 0;
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries.with_context(|| format!("cannot read {}", from.display()))?,
    };
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            count += copy_folder(&entry.path(), &target)?;
            continue;
        }
        match fs::copy(entry.path(), &target) {
            Ok(_) => count += 1,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot copy {}", entry.path().display())),
        }
    }
    Ok(count)
}

/// Writes a file and syncs it to disk.
pub(super) fn write_through(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(fs::File::open(path)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_copied_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/c"), "x").unwrap();
        fs::write(from.join("d"), "y").unwrap();
        assert_eq!(copy_folder(&from, &to).unwrap(), 2);
        assert_eq!(fs::read(to.join("a/b/c")).unwrap(), b"x");
        assert_eq!(copy_folder(&folder.path().join("none"), &to).unwrap(), 0);
    }

    #[test]
    fn postgresql_has_its_own_tools() {
        let mut config = Config::default();
        config.store.url = base::Secret::new("postgres://u:hush@h/d");
        let error = BackupPaths::of(&config).err().unwrap().to_string();
        assert!(error.contains("pg_dump") && !error.contains("hush"), "{error}");
        config.store.url = base::Secret::new("");
        config.blobs.url = "s3://bucket/x".to_owned();
        let places = BackupPaths::of(&config).unwrap();
        assert!(places.database.ends_with("data/quarry.db") && places.blobs.is_none());
    }
}
