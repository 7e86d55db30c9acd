//! Compression with a reused context.

use std::cell::RefCell;
use std::io;

use zstd::bulk::Compressor;

thread_local! {
    /// Context of the thread: creating one for every body takes longer than compressing a small body.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses bytes with zstd into one frame that states its content size.
///
/// # Errors
/// When zstd is out of memory.
pub fn compress(bytes: &[u8], level: i32) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(level)?),
        };
        compressor.set_compression_level(level)?;
        compressor.compress(bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_a_frame_of_its_own() {
        for (text, level) in [("", 1), ("abcabcabc", 3), ("other", 1), ("abcabcabc", 1)] {
            let packed = compress(text.as_bytes(), level).unwrap();
            assert_eq!(packed, zstd::bulk::compress(text.as_bytes(), level).unwrap(), "{text:?} at {level}");
            assert_eq!(zstd::bulk::decompress(&packed, 100).unwrap(), text.as_bytes());
        }
    }
}
