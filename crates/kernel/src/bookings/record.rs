//! Rows of requests, which are written with their charges.

use store::scrapes::{self, Scrape};
use store::search::{self, Search};
use store::{Conn, StoreError};

/// Row of a request in the log of its kind.
pub enum Record {
    /// A scrape.
    Scrape(Box<Scrape>),
    /// A search.
    Search(Box<Search>),
}

impl From<Scrape> for Record {
    fn from(scrape: Scrape) -> Self {
        Self::Scrape(Box::new(scrape))
    }
}

impl From<Search> for Record {
    fn from(search: Search) -> Self {
        Self::Search(Box::new(search))
    }
}

impl Record {
    /// Adds the row.
    pub(super) async fn insert(&self, conn: &mut Conn) -> Result<(), StoreError> {
        match self {
            Self::Scrape(scrape) => scrapes::insert(conn, scrape).await,
            Self::Search(search) => search::insert(conn, search).await,
        }
    }
}

/// Adds all rows.
pub(super) async fn insert_all(conn: &mut Conn, records: impl Iterator<Item = &Record>) -> Result<(), StoreError> {
    let mut scraped: Vec<&Scrape> = Vec::new();
    for record in records {
        match record {
            Record::Scrape(scrape) => scraped.push(scrape),
            Record::Search(_) => record.insert(conn).await?,
        }
    }
    scrapes::insert_all(conn, &scraped).await
}
