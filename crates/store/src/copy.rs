//! Online backup of a SQLite database.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use diesel_async::RunQueryDsl;

use crate::backend::Backend;
use crate::conn::on;
use crate::error::{Result, StoreError};
use crate::open::Store;

impl Store {
    /// Writes a consistent snapshot of the database to a new SQLite file. Readers and writers continue meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Query`] when the file exists or cannot be written, [`StoreError::Inconsistent`] for PostgreSQL,
    /// which has its own tools.
    #[crate::boxed]
    pub async fn copy_to(&self, file: &Path) -> Result<()> {
        if self.backend() == Backend::Postgres {
            return Err(StoreError::Inconsistent("only a SQLite database can be copied to a file".to_owned()));
        }
        let path = file.display().to_string();
        let mut conn = self.conn().await?;
        // The file name is a bound value, so it cannot be interpreted as SQL.
        let copy = diesel::sql_query("VACUUM INTO ?").bind::<diesel::sql_types::Text, _>(path);
        on!(conn, |c| copy.execute(c).await)?;
        // VACUUM INTO does not sync the new file to the disk.
        let describe = |source| StoreError::File { file: file.display().to_string(), source };
        // Private, like the database file itself.
        tokio::fs::set_permissions(file, Permissions::from_mode(0o600)).await.map_err(describe)?;
        tokio::fs::File::open(file).await.map_err(describe)?.sync_all().await.map_err(describe)
    }
}
