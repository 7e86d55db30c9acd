//! Items of an image file (ISO/IEC 23008-12): pictures, the tiles that a picture consists of, and its transparency.

use super::boxes::{Bytes, boxes, find};

/// Maximum number of items, of references between them, and of pieces of all items.
const MAX_ITEMS: usize = 4096;
/// Maximum number of changes of a picture: it is turned once and mirrored once.
const MAX_CHANGES: usize = 2;
/// Type of the property of an item that is the transparency of another.
const ALPHA: &[u8] = b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha";

/// Size of a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Change of a decoded picture before it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Turned clockwise by quarter turns.
    Turned(u8),
    /// Top and bottom exchanged.
    Flipped,
    /// Left and right exchanged.
    Mirrored,
}

/// Item of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    pub(super) id: u32,
    /// `av01`, `grid` or another type.
    pub(super) kind: [u8; 4],
    /// Size as declared.
    pub(super) size: Option<Size>,
    /// Changes in the order in which they are made.
    pub(super) changes: Vec<Change>,
    is_alpha: bool,
    /// Pieces of its data: whether they are in the file rather than beside the list of items, and their range.
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    is_in_file: bool,
    start: u64,
    /// 0 means up to the end.
    length: u64,
}

/// Items of a file.
#[derive(Debug)]
pub(super) struct Items<'a> {
    file: &'a [u8],
    /// Data beside the list of items.
    beside: &'a [u8],
    primary: u32,
    items: Vec<Item>,
    references: Vec<Reference>,
}

/// Reference from one item to another.
#[derive(Debug, Clone, Copy)]
struct Reference {
    kind: [u8; 4],
    from: u32,
    to: u32,
}

impl<'a> Items<'a> {
    /// Reads the list of items; `None` if it is damaged.
    pub(super) fn of(file: &'a [u8]) -> Option<Self> {
        let meta = find(file, b"meta")?.get(4..)?;
        let mut items = Self {
            file,
            beside: find(meta, b"idat").unwrap_or_default(),
            primary: primary(find(meta, b"pitm")?)?,
            items: kinds(find(meta, b"iinf")?)?,
            references: find(meta, b"iref").and_then(references).unwrap_or_default(),
        };
        items.read_places(find(meta, b"iloc")?)?;
        items.read_properties(find(meta, b"iprp")?)?;
        Some(items)
    }

    pub(super) fn primary(&self) -> Option<&Item> {
        self.item(self.primary)
    }

    fn item(&self, id: u32) -> Option<&Item> {
        self.items.iter().find(|item| item.id == id)
    }

    /// Returns the tiles of a grid, row by row.
    pub(super) fn tiles(&self, grid: &Item) -> Vec<&Item> {
        let tiles = self.references.iter().filter(|link| link.kind == *b"dimg" && link.from == grid.id);
        tiles.filter_map(|link| self.item(link.to)).collect()
    }

    /// Returns the transparency of a picture.
    pub(super) fn alpha(&self, picture: &Item) -> Option<&Item> {
        let of = self.references.iter().filter(|link| link.kind == *b"auxl" && link.to == picture.id);
        of.filter_map(|link| self.item(link.from)).find(|item| item.is_alpha)
    }

    /// Returns the size of the file in bytes.
    pub(super) fn size(&self) -> usize {
        self.file.len()
    }

    /// Returns the data of an item.
    pub(super) fn data(&self, item: &Item) -> Option<Vec<u8>> {
        let mut data = Vec::new();
        for piece in &item.pieces {
            let source = if piece.is_in_file { self.file } else { self.beside };
            let start = usize::try_from(piece.start).ok()?;
            let rest = source.get(start..)?;
            let length = if piece.length == 0 { rest.len() } else { usize::try_from(piece.length).ok()? };
            // Pieces may overlap, which multiplies their data.
            if length > self.size().saturating_sub(data.len()) {
                return None;
            }
            data.extend_from_slice(rest.get(..length)?);
        }
        Some(data)
    }

    fn read_places(&mut self, list: &[u8]) -> Option<()> {
        let mut list = Bytes(list);
        let (version, _) = list.version()?;
        let sizes = list.number(2)?;
        let size = |place: u32| ((sizes >> (12 - 4 * place)) & 0xF) as usize;
        let index = if version == 0 { 0 } else { size(3) };
        let (id_size, count_size) = if version < 2 { (2, 2) } else { (4, 4) };
        let count = list.short(count_size)?;
        // Pieces may take no bytes in the list, so their number says nothing about its length.
        let mut left = MAX_ITEMS as u64;
        for _ in 0..count.min(MAX_ITEMS as u32) {
            let id = list.short(id_size)?;
            let method = if version == 0 { 0 } else { list.number(2)? & 0xF };
            let is_elsewhere = list.number(2)? != 0;
            let base = list.number(size(2))?;
            let pieces = list.number(2)?;
            left = left.checked_sub(pieces)?;
            let item = self.items.iter_mut().find(|item| item.id == id);
            let mut item = item.filter(|_| method < 2 && !is_elsewhere);
            for _ in 0..pieces {
                list.number(index)?;
                let (start, length) = (base.checked_add(list.number(size(0))?)?, list.number(size(1))?);
                if let Some(item) = &mut item {
                    item.pieces.push(Piece { is_in_file: method == 0, start, length });
                }
            }
        }
        Some(())
    }

    fn read_properties(&mut self, list: &[u8]) -> Option<()> {
        let properties: Vec<_> = boxes(find(list, b"ipco")?).collect();
        let mut of_items = Bytes(find(list, b"ipma")?);
        let (version, flags) = of_items.version()?;
        let (id_size, place_size) = (if version == 0 { 2 } else { 4 }, if flags & 1 == 0 { 1 } else { 2 });
        for _ in 0..of_items.short(4)?.min(MAX_ITEMS as u32) {
            let id = of_items.short(id_size)?;
            let mut item = self.items.iter_mut().find(|item| item.id == id);
            for _ in 0..of_items.number(1)? {
                // The highest bit says that a reader must know the property.
                let place = of_items.number(place_size)? & ((1 << (8 * place_size - 1)) - 1);
                let place = usize::try_from(place).ok()?.checked_sub(1);
                let property = place.and_then(|place| properties.get(place));
                if let (Some(item), Some(property)) = (&mut item, property) {
                    item.add(property.kind, property.content);
                }
            }
        }
        Some(())
    }
}

impl Item {
    fn add(&mut self, kind: [u8; 4], content: &[u8]) {
        let mut bytes = Bytes(content);
        let first = content.first().copied().unwrap_or(0);
        match &kind {
            b"ispe" => {
                bytes.version();
                let sides = bytes.short(4).zip(bytes.short(4));
                self.size = sides.map(|(width, height)| Size { width, height });
            }
            // In the file against the clock.
            b"irot" => self.change(Change::Turned((4 - (first & 3)) % 4)),
            b"imir" => self.change(if first & 1 == 0 { Change::Flipped } else { Change::Mirrored }),
            b"auxC" => self.is_alpha |= content.get(4..).is_some_and(|name| name.starts_with(ALPHA)),
            _ => {}
        }
    }

    fn change(&mut self, change: Change) {
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(change);
        }
    }
}

fn primary(content: &[u8]) -> Option<u32> {
    let mut bytes = Bytes(content);
    let (version, _) = bytes.version()?;
    bytes.short(if version == 0 { 2 } else { 4 })
}

fn kinds(content: &[u8]) -> Option<Vec<Item>> {
    let mut bytes = Bytes(content);
    let (version, _) = bytes.version()?;
    bytes.number(if version == 0 { 2 } else { 4 })?;
    let entries = boxes(bytes.0).filter(|entry| entry.kind == *b"infe");
    Some(entries.filter_map(|entry| kind(entry.content)).take(MAX_ITEMS).collect())
}

fn kind(entry: &[u8]) -> Option<Item> {
    let mut bytes = Bytes(entry);
    let (version, _) = bytes.version()?;
    let id = bytes.short(if version < 3 { 2 } else { 4 })?;
    bytes.take(2)?;
    let kind = bytes.take(4)?.try_into().ok().filter(|_| version >= 2)?;
    Some(Item { id, kind, ..Item::default() })
}

fn references(content: &[u8]) -> Option<Vec<Reference>> {
    let mut bytes = Bytes(content);
    let (version, _) = bytes.version()?;
    let id_size = if version == 0 { 2 } else { 4 };
    let mut found = Vec::new();
    for list in boxes(bytes.0) {
        let mut bytes = Bytes(list.content);
        let from = bytes.short(id_size)?;
        for _ in 0..bytes.number(2)? {
            found.push(Reference { kind: list.kind, from, to: bytes.short(id_size)? });
            if found.len() > MAX_ITEMS {
                return None;
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items() -> Items<'static> {
        let item = Item { id: 1, kind: *b"av01", ..Item::default() };
        Items { file: b"file", beside: b"", primary: 1, items: vec![item], references: Vec::new() }
    }

    #[test]
    fn pieces_without_bytes_of_their_own_are_bounded() {
        // Version 0, numbers of no bytes, then items: id, place of the data, number of pieces.
        let list = |pieces: u16, count: u16| {
            let entry = [&[0, 1, 0, 0][..], &pieces.to_be_bytes()].concat();
            [&[0, 0, 0, 0, 0, 0][..], &count.to_be_bytes(), &entry.repeat(usize::from(count))].concat()
        };
        assert_eq!(items().read_places(&list(2, 1)), Some(()));
        assert_eq!(items().read_places(&list(u16::MAX, 4096)), None);
        assert_eq!(items().read_places(&list(2, 4096)), None);
    }

    #[test]
    fn a_piece_is_no_longer_than_the_file() {
        let mut items = items();
        let piece = |start, length| Piece { is_in_file: true, start, length };
        items.items[0].pieces = vec![piece(0, 2), piece(2, u64::MAX)];
        assert_eq!(items.data(&items.items[0]), None);
        items.items[0].pieces = vec![piece(0, 2), piece(2, 0)];
        assert_eq!(items.data(&items.items[0]).as_deref(), Some(&b"file"[..]));
    }

    #[test]
    fn changes_of_a_picture_are_bounded() {
        let mut item = Item::default();
        (0..1000).for_each(|_| item.add(*b"irot", &[1]));
        assert_eq!(item.changes, [Change::Turned(3), Change::Turned(3)]);
    }
}
