//! A copy of the database while others use it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use diesel_async::RunQueryDsl;

use crate::conn::on;
use crate::error::{Result, StoreError};
use crate::open::{Backend, Store};

impl Store {
    /// Writes the database, as it is at one moment, to a new SQLite file. Readers and writers go on meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Query`] when the file is there or cannot be written, [`StoreError::Inconsistent`] for PostgreSQL,
    /// which has its own tools.
    #[crate::boxed]
    pub async fn copy_to(&self, file: &Path) -> Result<()> {
        if self.backend() == Backend::Postgres {
            return Err(StoreError::Inconsistent("only a SQLite database is a file that can be copied".to_owned()));
        }
        let path = file.display().to_string();
        let mut conn = self.conn().await?;
        // The file's name is a value here, so it cannot be SQL.
        let copy = diesel::sql_query("VACUUM INTO ?").bind::<diesel::sql_types::Text, _>(path);
        on!(conn, |c| copy.execute(c).await)?;
        // SQLite leaves it to the system when the new file reaches the disk.
        let describe = |source| StoreError::File { file: file.display().to_string(), source };
        // As private as the database itself.
        tokio::fs::set_permissions(file, Permissions::from_mode(0o600)).await.map_err(describe)?;
        tokio::fs::File::open(file).await.map_err(describe)?.sync_all().await.map_err(describe)
    }
}
