//! Documents inside a document (`altChunk`), which Word shows as a part of its text.

use super::super::marks;
use super::super::package::resolved;
use super::super::tree::Element;
use super::super::{inner_markdown, web};
use super::Part;
use crate::detect::{Kind, detect};

/// Maximum number of documents in one.
const MAX_CHUNKS: usize = 50;

impl Part<'_, '_> {
    /// Returns a paragraph in whose place the text of the embedded document goes.
    pub(super) fn chunk<'e>(&mut self, chunk: &Element<'_>) -> Option<Element<'e>> {
        if self.inserts.blocks_left(MAX_CHUNKS) == 0 {
            return None;
        }
        let relation = self.relations.get(chunk.attribute("id")?.as_ref()).filter(|relation| !relation.is_external)?;
        let name = resolved(self.name, &relation.target);
        let bytes = self.package.part(&name)?;
        let markdown = match detect(&bytes, None, Some(&name)) {
            Some(kind @ (Kind::Docx | Kind::Docm | Kind::Rtf | Kind::Odt)) => inner_markdown(&bytes, kind)?,
            Some(_) => return None,
            None => web::markdown(&bytes)?,
        };
        let mark = self.inserts.blocks(marks::without_marks(markdown));
        Some(self.paragraph_of(&mark))
    }
}
