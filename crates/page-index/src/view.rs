//! The index as the last commit left it, with what every query needs of it.

use tantivy::columnar::{Column, StrColumn};
use tantivy::fastfield::FastFieldReaders;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::{DocId, Searcher, SegmentReader};

use crate::language::{LANGUAGES, Language};
use crate::schema::{Fact, Fields};

/// Commit of the index.
pub(crate) struct View {
    pub(crate) searcher: Searcher,
    /// Columns of each segment.
    columns: Vec<Columns>,
    /// Languages that pages are stemmed as, with how many are.
    pub(crate) languages: Vec<(&'static Language, u64)>,
    /// Pages, those included that are deleted and not yet merged away.
    pub(crate) total: u64,
}

/// Columns of a segment. One without any value is missing.
pub(crate) struct Columns {
    pub(crate) scope: Option<StrColumn>,
    pub(crate) site: Option<Column<u64>>,
    pub(crate) published: Option<Column<i64>>,
    pub(crate) fetched: Option<Column<i64>>,
    pub(crate) flags: Option<Column<u64>>,
    pub(crate) simhash: Option<Column<u64>>,
}

impl View {
    pub(crate) fn of(fields: &Fields, searcher: Searcher) -> tantivy::Result<Self> {
        let columns = searcher.segment_readers().iter().map(|reader| Columns::open(reader.fast_fields()));
        let columns = columns.collect::<tantivy::Result<_>>()?;
        let mut languages = Vec::new();
        for language in LANGUAGES.iter() {
            let pages = searcher.doc_freq(&fields.fact(Fact::Language(language.tag)))?;
            if pages > 0 {
                languages.push((language, pages));
            }
        }
        let total = searcher.total_num_docs()?;
        Ok(View { searcher, columns, languages, total })
    }

    /// Returns the segments with their numbers and columns.
    pub(crate) fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let segments = (0..).zip(self.searcher.segment_readers()).zip(&self.columns);
        segments.map(|((number, reader), columns)| Segment { number, reader, columns })
    }

    /// Returns the columns of a segment.
    pub(crate) fn columns(&self, segment: u32) -> Option<&Columns> {
        self.columns.get(segment as usize)
    }
}

/// Segment of the index.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) number: u32,
    pub(crate) reader: &'a SegmentReader,
    pub(crate) columns: &'a Columns,
}

impl Columns {
    fn open(columns: &FastFieldReaders) -> tantivy::Result<Self> {
        Ok(Columns {
            scope: columns.str("scope")?,
            site: columns.column_opt("site")?,
            published: columns.column_opt("published")?,
            fetched: columns.column_opt("fetched")?,
            flags: columns.column_opt("flags")?,
            simhash: columns.column_opt("simhash")?,
        })
    }

    /// Returns the scope of a page.
    pub(crate) fn scope(&self, page: DocId) -> tantivy::Result<String> {
        let mut scope = String::new();
        if let Some((column, value)) = self.scope.as_ref().and_then(|column| Some((column, column.ords().first(page)?)))
        {
            column.ord_to_str(value, &mut scope)?;
        }
        Ok(scope)
    }
}

/// Returns the number that a column has for a page, 0 if it has none.
pub(crate) fn number(column: Option<&Column<u64>>, page: DocId) -> u64 {
    column.and_then(|column| column.first(page)).unwrap_or(0)
}

/// Returns the moment that a column has for a page.
pub(crate) fn moment(column: Option<&Column<i64>>, page: DocId) -> Option<i64> {
    column.and_then(|column| column.first(page))
}
