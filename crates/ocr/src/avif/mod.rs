//! AVIF: still pictures that are compressed with AV1, one or as tiles of a grid.
//!
//! Only the brightness is decoded, as recognition sees no colours.

mod av1;
mod boxes;
mod items;

use crate::grey::{MAX_PIXELS, is_allowed, of_rgba};
use crate::{Error, Grey};
use boxes::{Bytes, find};
use items::{Change, Item, Items, Size};

/// Brightness of a picture, row by row.
#[derive(Debug, Clone)]
struct Samples {
    size: Size,
    values: Vec<u8>,
}

/// Whether the file says that it is AVIF, alone or among other formats.
pub(crate) fn is_avif(file: &[u8]) -> bool {
    let brands = if file.get(4..8) == Some(b"ftyp") { find(file, b"ftyp").unwrap_or_default() } else { &[] };
    // The second number is a version.
    brands.chunks_exact(4).enumerate().any(|(place, brand)| place != 1 && matches!(brand, b"avif" | b"avis"))
        || matches!(file.get(4..12), Some(b"ftypavif" | b"ftypavis"))
}

/// Decodes the main picture of a file.
pub(crate) fn grey(file: &[u8]) -> Result<Grey, Error> {
    let items = Items::of(file).ok_or_else(|| broken("its list of pictures cannot be read"))?;
    let main = items.primary().ok_or_else(|| broken("it has no main picture"))?;
    let picture = picture(&items, main)?;
    let alpha = items.alpha(main).map(|alpha| self::picture(&items, alpha)).transpose()?;
    let Size { width, height } = picture.size;
    let pixels = match alpha.filter(|alpha| alpha.size == picture.size) {
        Some(alpha) => {
            let both = picture.values.iter().zip(&alpha.values);
            of_rgba(&both.flat_map(|(shade, alpha)| [*shade, *shade, *shade, *alpha]).collect::<Vec<u8>>())
        }
        None => picture.values,
    };
    let mut grey = Grey::new(width, height, pixels).ok_or(Error::TooLarge)?;
    for change in &main.changes {
        grey = match change {
            Change::Turned(quarters) => grey.turned(*quarters),
            Change::Flipped => grey.mirrored().turned(2),
            Change::Mirrored => grey.mirrored(),
        };
    }
    Ok(grey)
}

fn broken(why: &str) -> Error {
    Error::Broken(why.to_owned())
}

fn picture(items: &Items<'_>, item: &Item) -> Result<Samples, Error> {
    let size = item.size.ok_or_else(|| broken("the size of its picture is missing"))?;
    if !is_allowed(size.width, size.height) {
        return Err(Error::TooLarge);
    }
    let data = items.data(item).ok_or_else(|| broken("the file is truncated"))?;
    match &item.kind {
        b"av01" => av1::decode(data, size),
        b"grid" => of_tiles(&items.tiles(item), &data, items),
        _ => Err(Error::Unsupported("AVIF files with other than AV1")),
    }
}

/// Grid of tiles of one size, and the size of the picture, which the tiles may exceed.
struct Grid {
    rows: usize,
    columns: usize,
    size: Size,
}

impl Grid {
    fn of(data: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(data);
        let flags = bytes.short(2)?;
        let (rows, columns) = (bytes.number(1)? as usize + 1, bytes.number(1)? as usize + 1);
        let length = if flags & 1 == 0 { 2 } else { 4 };
        let size = Size { width: bytes.short(length)?, height: bytes.short(length)? };
        Some(Self { rows, columns, size })
    }
}

/// Puts tiles together.
fn of_tiles(tiles: &[&Item], data: &[u8], items: &Items<'_>) -> Result<Samples, Error> {
    let Grid { rows, columns, size } = Grid::of(data).ok_or_else(|| broken("its grid is damaged"))?;
    let tile = tiles.first().and_then(|tile| tile.size).ok_or_else(|| broken("its grid has no tiles"))?;
    let covered = u64::from(tile.width) * u64::from(tile.height) * (rows * columns) as u64;
    if !is_allowed(size.width, size.height) || covered > 2 * MAX_PIXELS {
        return Err(Error::TooLarge);
    }
    let (across, down) = (size.width as usize, size.height as usize);
    let fits = tile.width as usize * columns >= across && tile.height as usize * rows >= down;
    if tiles.len() < rows * columns || !fits || tiles.iter().any(|tile| tile.kind != *b"av01") {
        return Err(broken("its grid has too few tiles"));
    }
    let (mut values, mut left_over) = (vec![255; across * down], items.size());
    for (place, item) in tiles.iter().take(rows * columns).enumerate() {
        let data = items.data(item).ok_or_else(|| broken("the file is truncated"))?;
        // Tiles may share their data, which multiplies it.
        left_over = left_over.checked_sub(data.len()).ok_or_else(|| broken("its tiles are larger than the file"))?;
        let decoded = av1::decode(data, tile)?;
        let (left, top) = (place % columns * tile.width as usize, place / columns * tile.height as usize);
        let length = (tile.width as usize).min(across.saturating_sub(left));
        let rows = decoded.values.chunks_exact(tile.width as usize).enumerate();
        for (y, row) in rows.take(down.saturating_sub(top)) {
            let start = (top + y) * across + left;
            if let Some(target) = values.get_mut(start..start + length) {
                target.copy_from_slice(&row[..length]);
            }
        }
    }
    Ok(Samples { size, values })
}
