//! Files that are not what they should be.

use ocr::{Error, Pictures, Renderer};

#[test]
fn avif_is_refused_by_name() {
    let file = b"\0\0\0\x20ftypavif\0\0\0\0avifmif1";
    assert_eq!(Pictures::open(file).err(), Some(Error::Unsupported("AVIF")));
}

#[test]
fn what_is_no_picture_is_refused() {
    for file in
        [&b""[..], b"II*\0", b"\x89PNG\r\n\x1a\n", b"hello", b"GIF89a", b"\xff\x4f\xff\x51", b"RIFF\0\0\0\0WEBP"]
    {
        assert!(Pictures::open(file).and_then(|pictures| pictures.frame(1)).is_err(), "{file:?}");
    }
    assert!(Renderer::new(b"hello".to_vec()).is_err());
}

#[test]
fn pictures_that_claim_to_be_huge_cost_nothing() {
    // A bitmap of 30 000 by 30 000 pixels in 54 bytes.
    let mut bitmap = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    bitmap.extend(30_000_i32.to_le_bytes());
    bitmap.extend(30_000_i32.to_le_bytes());
    bitmap.extend(b"\x01\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(Pictures::open(&bitmap).expect("a picture").frame(1).err(), Some(Error::TooLarge));
}
