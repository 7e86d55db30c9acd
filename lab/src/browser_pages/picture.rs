//! A minimal PNG decoder (RFC 2083) that detects blank images.

use std::io::Read;

use anyhow::{Context, Result, bail, ensure};
use flate2::read::ZlibDecoder;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Properties of an image.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Whether it has more than one colour.
    pub(crate) colourful: bool,
}

/// Reads a PNG with 8 bits per channel and without interlacing.
pub(crate) fn decode_png(file: &[u8]) -> Result<Picture> {
    let mut rest = file.strip_prefix(SIGNATURE).context("no PNG")?;
    let (mut head, mut packed) = (None, Vec::new());
    while rest.len() >= 12 {
        let length = number(rest, 0)? as usize;
        let body = rest.get(8..8 + length).context("a chunk is cut")?;
        match &rest[4..8] {
            b"IHDR" => head = Some(body),
            b"IDAT" => packed.extend_from_slice(body),
            _ => {}
        }
        rest = rest.get(12 + length..).context("a chunk is cut")?;
    }
    let head = head.context("no IHDR")?;
    let (width, height) = (number(head, 0)?, number(head, 4)?);
    let pixel = match head.get(8..13) {
        Some([8, 0, _, _, 0]) => 1,
        Some([8, 2, _, _, 0]) => 3,
        Some([8, 6, _, _, 0]) => 4,
        other => bail!("the kind {other:?} is not known"),
    };
    let mut data = Vec::new();
    ZlibDecoder::new(&packed[..]).read_to_end(&mut data)?;
    let line = width as usize * pixel;
    ensure!(data.len() == (line + 1) * height as usize, "{} bytes of pixels", data.len());
    Ok(Picture { width, height, colourful: colourful(&mut data, line, pixel)? })
}

fn number(bytes: &[u8], at: usize) -> Result<u32> {
    let four = bytes.get(at..at + 4).context("a number is cut")?;
    Ok(u32::from_be_bytes(four.try_into()?))
}

/// Removes the line filters (section 6), and compares every pixel with the first.
fn colourful(data: &mut [u8], line: usize, pixel: usize) -> Result<bool> {
    let mut before = vec![0; line];
    let mut first = None;
    for row in data.chunks_exact_mut(line + 1) {
        let (filter, row) = row.split_first_mut().context("an empty line")?;
        unfilter(*filter, row, &before, pixel)?;
        let first = first.get_or_insert_with(|| row[..pixel].to_vec());
        if row.chunks_exact(pixel).any(|other| other != &first[..]) {
            return Ok(true);
        }
        before.copy_from_slice(row);
    }
    Ok(false)
}

fn unfilter(filter: u8, row: &mut [u8], above: &[u8], pixel: usize) -> Result<()> {
    ensure!(filter <= 4, "the filter {filter} is not known");
    for at in 0..row.len() {
        let left = at.checked_sub(pixel).map_or(0, |at| row[at]);
        let corner = at.checked_sub(pixel).map_or(0, |at| above[at]);
        let guess = match filter {
            1 => left,
            2 => above[at],
            3 => u8::midpoint(left, above[at]),
            4 => paeth(left, above[at], corner),
            _ => 0,
        };
        row[at] = row[at].wrapping_add(guess);
    }
    Ok(())
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(above) - i16::from(corner);
    let far = |from: u8| (guess - i16::from(from)).abs();
    [left, above, corner].into_iter().min_by_key(|from| far(*from)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn png(width: u32, rows: &[&[u8]]) -> Vec<u8> {
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        rows.iter().for_each(|row| packer.write_all(row).unwrap());
        let chunk = |kind: &[u8], body: &[u8]| {
            [&u32::try_from(body.len()).unwrap().to_be_bytes(), kind, body, &[0; 4]].concat()
        };
        let height = u32::try_from(rows.len()).unwrap();
        let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
        [SIGNATURE, &chunk(b"IHDR", &head), &chunk(b"IDAT", &packer.finish().unwrap()), &chunk(b"IEND", &[])].concat()
    }

    #[test]
    fn one_colour_is_told_from_two() {
        let check = |rows: &[&[u8]], colourful| {
            let expect = Picture { width: 2, height: 2, colourful };
            assert_eq!(decode_png(&png(2, rows)).unwrap(), expect, "{rows:?}");
        };
        check(&[&[0, 9, 9], &[0, 9, 9]], false);
        check(&[&[1, 9, 0], &[2, 0, 0]], false);
        check(&[&[1, 9, 0], &[4, 0, 0]], false);
        check(&[&[1, 9, 0], &[3, 5, 0]], false);
        check(&[&[0, 9, 9], &[2, 0, 1]], true);
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        let whole = png(2, &[&[0, 9, 9], &[0, 9, 9]]);
        for file in [&b"GIF89a"[..], &whole[..40], b""] {
            assert!(decode_png(file).is_err(), "{file:?}");
        }
    }
}
