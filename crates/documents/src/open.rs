//! Opening of a PDF: repair, decryption, and the list of its pages.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, LoadOptions, Object, ObjectId};

use crate::Error;
use crate::geometry::{Matrix, Rect};
use crate::objects::{Lookup, MAX_STREAM, as_dict};

/// Maximum number of ancestors that are searched for an inherited entry of a page.
const MAX_PARENTS: usize = 64;
/// Maximum edge of a page, in points; the specification says 14 400.
const MAX_EDGE: f32 = 20_000.0;
/// Default page size: US letter, as in most readers.
const LETTER: Rect = Rect { x0: 0.0, y0: 0.0, x1: 612.0, y1: 792.0 };
/// Maximum number of tags of a document's own.
const MAX_ROLES: usize = 1000;
/// Bytes in which the header is searched.
const HEADER_WITHIN: usize = 1 << 20;

/// Opened PDF.
pub(crate) struct Pdf {
    pub(crate) doc: Document,
    /// Pages in order.
    pub(crate) pages: Vec<ObjectId>,
    /// Hidden layers.
    switched_off: HashSet<ObjectId>,
    /// Tags of the document's own that mean a heading.
    heading_tags: HashSet<Vec<u8>>,
}

impl Pdf {
    /// Opens a file. Junk before the header is tolerated, and encrypted files are tried with the empty password.
    pub(crate) fn open(bytes: &[u8]) -> Result<Self, Error> {
        let mut doc = load(bytes)?;
        fill_streams(&mut doc, bytes);
        if doc.trailer.get(b"Encrypt").is_ok() {
            return Err(Error::Encrypted);
        }
        let pages = pages(&doc);
        if pages.is_empty() {
            return Err(Error::Broken("it has no pages".to_owned()));
        }
        let switched_off = switched_off(&doc);
        let heading_tags = heading_tags(&doc);
        Ok(Self { doc, pages, switched_off, heading_tags })
    }

    pub(crate) fn page(&self, id: ObjectId) -> Option<&Dictionary> {
        self.doc.get_object(id).ok().and_then(as_dict)
    }

    /// Whether a tag of marked content means a heading.
    pub(crate) fn is_heading_tag(&self, tag: &[u8]) -> bool {
        is_standard_heading(tag) || self.heading_tags.contains(tag)
    }

    /// Whether a layer is hidden.
    pub(crate) fn is_switched_off(&self, layer: &Object) -> bool {
        layer.as_reference().is_ok_and(|id| self.switched_off.contains(&id))
    }

    /// Whether a form or image belongs to a hidden layer.
    pub(crate) fn is_hidden(&self, dict: &Dictionary) -> bool {
        dict.get(b"OC").is_ok_and(|layer| self.is_switched_off(layer))
    }

    /// Returns an entry of a page, which may be inherited from an ancestor in the page tree.
    pub(crate) fn inherited<'a>(&'a self, page: &'a Dictionary, key: &[u8]) -> Option<&'a Object> {
        let mut node = page;
        for _ in 0..MAX_PARENTS {
            if let Some(found) = node.object(&self.doc, key) {
                return Some(found);
            }
            node = node.dict(&self.doc, b"Parent")?;
        }
        None
    }

    /// Returns the size of the visible page, and the transform from its coordinates to page space.
    pub(crate) fn view(&self, page: &Dictionary) -> VisibleArea {
        let media = self.inherited_rect(page, b"MediaBox").unwrap_or(LETTER);
        let crop = self.inherited_rect(page, b"CropBox").filter(|crop| crop.shared(&media) > 0.0);
        let shown = crop.map_or(media, |crop| Rect {
            x0: crop.x0.max(media.x0),
            y0: crop.y0.max(media.y0),
            x1: crop.x1.min(media.x1),
            y1: crop.y1.min(media.y1),
        });
        let turns = self.inherited(page, b"Rotate").and_then(|turn| turn.as_i64().ok()).unwrap_or(0) / 90;
        VisibleArea::new(&shown, turns.rem_euclid(4))
    }

    fn inherited_rect(&self, page: &Dictionary, key: &[u8]) -> Option<Rect> {
        let holder = Dictionary::from_iter([(key.to_vec(), self.inherited(page, key)?.clone())]);
        let rect = holder.rect(&self.doc, key)?;
        let usable = |length: f32| (1.0..=MAX_EDGE).contains(&length);
        (usable(rect.width()) && usable(rect.height())).then_some(rect)
    }
}

/// Visible area of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisibleArea {
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// Transform from default user space to page space.
    pub(crate) matrix: Matrix,
}

impl VisibleArea {
    /// Creates the view of a visible box that is rotated clockwise by quarter turns.
    pub(crate) fn new(shown: &Rect, turns: i64) -> Self {
        let Rect { x0, y0, x1, y1 } = *shown;
        let (width, height) = (shown.width(), shown.height());
        let (width, height, matrix) = match turns {
            1 => (height, width, [0.0, 1.0, 1.0, 0.0, -y0, -x0]),
            2 => (width, height, [-1.0, 0.0, 0.0, 1.0, x1, -y0]),
            3 => (height, width, [0.0, -1.0, -1.0, 0.0, y1, x1]),
            _ => (width, height, [1.0, 0.0, 0.0, -1.0, -x0, y1]),
        };
        Self { width, height, matrix: Matrix(matrix) }
    }
}

fn load(bytes: &[u8]) -> Result<Document, Error> {
    let options = || LoadOptions { max_decompressed_size: Some(MAX_STREAM), ..LoadOptions::default() };
    let head = &bytes[..bytes.len().min(HEADER_WITHIN)];
    let loaded = if memchr::memmem::find(head, b"%PDF-").is_some() {
        Document::load_mem_with_options(bytes, options())
    } else if memchr::memmem::find(bytes, b" obj").is_some() {
        // Without a header all offsets are wrong once one is added; lopdf's repair corrects them.
        Document::load_mem_with_options(&[b"%PDF-1.4\n", bytes].concat(), options())
    } else {
        return Err(Error::Broken("it is not a PDF".to_owned()));
    };
    Ok(loaded?)
}

/// Fills streams without a length with the bytes up to `endstream`.
fn fill_streams(doc: &mut Document, bytes: &[u8]) {
    let start = memchr::memmem::find(&bytes[..bytes.len().min(HEADER_WITHIN)], b"%PDF-").unwrap_or(0);
    let mut left = MAX_STREAM;
    for object in doc.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let lost = stream.content.is_empty() && stream.dict.get(b"Length").is_err();
        let Some(rest) = stream.start_position.filter(|_| lost).and_then(|at| bytes.get(start + at..)) else {
            continue;
        };
        let Some(end) = memchr::memmem::find(&rest[..rest.len().min(left)], b"endstream") else { continue };
        left -= end;
        stream.content = rest[..end].to_vec();
    }
}

/// Returns the layers that are hidden by default.
fn switched_off(doc: &Document) -> HashSet<ObjectId> {
    let layers = doc.catalog().ok().and_then(|catalog| catalog.dict(doc, b"OCProperties"));
    let off = layers.and_then(|layers| layers.dict(doc, b"D")).and_then(|shown| shown.array(doc, b"OFF"));
    off.unwrap_or_default().iter().filter_map(|layer| layer.as_reference().ok()).collect()
}

/// Whether a tag is a heading by the specification.
fn is_standard_heading(tag: &[u8]) -> bool {
    matches!(tag, b"H" | b"H1" | b"H2" | b"H3" | b"H4" | b"H5" | b"H6" | b"Title")
}

/// Returns the tags that a document maps to standard headings.
fn heading_tags(doc: &Document) -> HashSet<Vec<u8>> {
    let root = doc.catalog().ok().and_then(|catalog| catalog.dict(doc, b"StructTreeRoot"));
    let Some(roles) = root.and_then(|root| root.dict(doc, b"RoleMap")) else { return HashSet::new() };
    let heading = |role: &Object| role.as_name().is_ok_and(is_standard_heading);
    roles.iter().take(MAX_ROLES).filter(|(_, role)| heading(role)).map(|(tag, _)| tag.clone()).collect()
}

/// Returns the pages in the page tree, or without one, every object of the type `Page`.
fn pages(doc: &Document) -> Vec<ObjectId> {
    let is_page = |id: &ObjectId| doc.get_object(*id).ok().and_then(as_dict).is_some();
    let tree: Vec<ObjectId> = doc.page_iter().filter(is_page).collect();
    if !tree.is_empty() {
        return tree;
    }
    let mut seen = HashSet::new();
    let says_so = |object: &Object| as_dict(object).is_some_and(|dict| dict.has_type(b"Page"));
    doc.objects.iter().filter(|(_, object)| says_so(object)).map(|(id, _)| *id).filter(|id| seen.insert(*id)).collect()
}
