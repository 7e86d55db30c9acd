//! Index in a folder.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tantivy::schema::Schema;
use tantivy::store::Compressor;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy};

use crate::anchors::Anchors;
use crate::encode::Decoder;
use crate::schema::{DECODER, Fields};
use crate::view::View;
use crate::{Asked, Hit, IndexError, Writer};

/// File of the folder that says how the index is written, and its content. The number changes whenever pages have to be
/// indexed again: with the fields, the analysis, or the format of the library.
const FORMAT_FILE: &str = "format";
pub(crate) const FORMAT: &str = "quarry pages 1\n";

/// Bounds of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Memory of the writer for pages that are not on disk yet, in bytes. At least 15 MB are taken.
    pub writer_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { writer_bytes: 24 << 20 }
    }
}

/// Contents of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Pages that can be found.
    pub pages: u64,
    /// Size of the files, in bytes.
    pub bytes: u64,
    /// Place of the follower, as the last commit has it.
    pub place: Option<String>,
}

/// Index of pages in a folder. Cheap to clone.
#[derive(Clone)]
pub struct PageIndex(pub(crate) Arc<Opened>);

pub(crate) struct Opened {
    folder: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) index: Index,
    reader: IndexReader,
    /// Searcher of the last commit.
    view: RwLock<Arc<View>>,
    pub(crate) fields: Fields,
    pub(crate) anchors: Mutex<Anchors>,
}

impl PageIndex {
    /// Opens the index in a folder, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreadable`] if the folder is damaged or of another format, [`IndexError::File`] if it cannot be
    /// made.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self, IndexError> {
        let (schema, fields) = Fields::make();
        let made = std::fs::create_dir_all(folder).and_then(|()| read_format(folder));
        let index = match made.map_err(|error| file_error(folder, &error))? {
            Some(format) if format == FORMAT => open_index(folder, &schema)?,
            Some(format) => return Err(unreadable(folder, format!("its format is {:?}", format.trim_end()))),
            None => create(folder, schema)?,
        };
        index.tokenizers().register(DECODER, TextAnalyzer::from(Decoder));
        let reader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(64).try_into();
        let reader = reader.map_err(|error| unreadable(folder, error.to_string()))?;
        let view = View::of(&fields, reader.searcher()).map_err(|error| unreadable(folder, error.to_string()))?;
        let (folder, view) = (folder.to_owned(), RwLock::new(Arc::new(view)));
        Ok(PageIndex(Arc::new(Opened { folder, settings, index, reader, view, fields, anchors: Mutex::default() })))
    }

    /// Opens the writer. There is one at a time; it gives its memory back when it is dropped.
    ///
    /// # Errors
    ///
    /// [`IndexError::Busy`] if another is open, [`IndexError::Unreadable`] if the files are damaged.
    pub fn writer(&self) -> Result<Writer, IndexError> {
        Writer::open(Arc::clone(&self.0))
    }

    /// Answers a question with the pages of the last commit. Work for a processor, without waiting: at most some ten
    /// milliseconds. `stop` is asked now and then, and ends the work when it returns true.
    ///
    /// # Errors
    ///
    /// [`IndexError::Stopped`], and [`IndexError::Unreadable`] if the files are damaged.
    pub fn search(&self, asked: &Asked<'_>, stop: &dyn Fn() -> bool) -> Result<Vec<Hit>, IndexError> {
        crate::search::search(&self.0, asked, stop)
    }

    /// Returns what the index holds.
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreadable`] if the files are damaged.
    pub fn stats(&self) -> Result<Stats, IndexError> {
        let metas = self.0.index.load_metas().map_err(|error| self.0.failed(&error))?;
        let files = std::fs::read_dir(&self.0.folder).map_err(|error| file_error(&self.0.folder, &error))?;
        let bytes = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum();
        Ok(Stats { pages: self.0.view().searcher.num_docs(), bytes, place: metas.payload })
    }

    /// Returns the folder of the index.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }
}

impl Opened {
    /// Returns the last commit that was looked at.
    pub(crate) fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at the last commit.
    pub(crate) fn refresh(&self) -> Result<(), IndexError> {
        self.reader.reload().map_err(|error| self.failed(&error))?;
        let view = View::of(&self.fields, self.reader.searcher()).map_err(|error| self.failed(&error))?;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        Ok(())
    }

    /// Makes an error of one of the library: what is wrong with the files, or with the machine.
    pub(crate) fn failed(&self, error: &tantivy::TantivyError) -> IndexError {
        use tantivy::TantivyError as E;
        match error {
            E::LockFailure(..) => IndexError::Busy,
            E::DataCorruption(_)
            | E::OpenReadError(_)
            | E::IncompatibleIndex(_)
            | E::DeserializeError(_)
            | E::SchemaError(_)
            | E::FieldNotFound(_) => unreadable(&self.folder, error.to_string()),
            _ => IndexError::File(error.to_string()),
        }
    }
}

impl std::fmt::Debug for PageIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PageIndex").field(&self.0.folder).finish()
    }
}

/// Returns how the index of a folder is written. A folder of files without that is of another format; an empty one is
/// none yet, as is one whose making was cut short.
pub(crate) fn read_format(folder: &Path) -> std::io::Result<Option<String>> {
    match std::fs::read(folder.join(FORMAT_FILE)) {
        Ok(format) => Ok(Some(String::from_utf8_lossy(&format).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(folder.join("meta.json").exists().then(|| "unknown".to_owned()))
        }
        Err(error) => Err(error),
    }
}

fn open_index(folder: &Path, schema: &Schema) -> Result<Index, IndexError> {
    if !folder.join("meta.json").exists() {
        return create(folder, schema.clone());
    }
    let index = Index::open_in_dir(folder).map_err(|error| unreadable(folder, error.to_string()))?;
    if index.schema() != *schema {
        return Err(unreadable(folder, "its fields are others".to_owned()));
    }
    Ok(index)
}

fn create(folder: &Path, schema: Schema) -> Result<Index, IndexError> {
    let written = std::fs::File::create(folder.join(FORMAT_FILE)).and_then(|mut file| {
        file.write_all(FORMAT.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| file_error(folder, &error))?;
    let settings = IndexSettings {
        // Zstd makes the texts a quarter smaller, and a query slower by a fifth: it reads a block of them for each hit.
        docstore_compression: Compressor::Lz4,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let made = Index::builder().schema(schema).settings(settings).create_in_dir(folder);
    made.map_err(|error| IndexError::File(error.to_string()))
}

fn unreadable(folder: &Path, reason: String) -> IndexError {
    IndexError::Unreadable { folder: folder.to_owned(), reason }
}

fn file_error(folder: &Path, error: &std::io::Error) -> IndexError {
    IndexError::File(format!("{}: {error}", folder.display()))
}
