//! Requests to engines of the web per month, counted in the database.

use async_trait::async_trait;
use store::Store;

/// Count of requests to engines that all servers of a database share.
pub struct StoredMonths(Store);

impl StoredMonths {
    /// Creates the count of a database.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self(store)
    }
}

#[async_trait]
impl search::Months for StoredMonths {
    async fn take(&self, engine: &'static str, month: &str, most: u32) -> Result<bool, String> {
        let taken = async { store::search_months::take(&mut self.0.conn().await?, engine, month, most).await };
        taken.await.map_err(|error: store::StoreError| error.to_string())
    }
}
