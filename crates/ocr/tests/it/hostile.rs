//! Files that are not what they should be.

use ocr::{Error, Pictures, Renderer};

#[test]
fn a_picture_of_a_foreign_codec_is_refused_by_name() {
    let file = b"\0\0\0\x18ftypheic\0\0\0\0heicmif1";
    assert_eq!(Pictures::open(file).err(), Some(Error::Unsupported("HEIC")));
}

#[test]
fn damaged_avif_is_refused_wherever_it_is_cut() {
    let file = include_bytes!("../data/sample.avif");
    for end in (0..file.len()).step_by(7) {
        assert!(Pictures::open(&file[..end]).and_then(|pictures| pictures.frame(1)).is_err(), "{end}");
    }
    for place in 0..file.len() {
        let mut file = file.to_vec();
        file[place] ^= 0xFF;
        // Damage in the picture itself may go unnoticed.
        let _ = Pictures::open(&file).and_then(|pictures| pictures.frame(1));
    }
}

#[test]
fn avif_that_claims_to_be_huge_costs_nothing() {
    let mut file = include_bytes!("../data/sample.avif").to_vec();
    let size = file.windows(4).position(|part| part == b"ispe").expect("a size") + 8;
    file[size..size + 8].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    assert_eq!(Pictures::open(&file).expect("a picture").frame(1).err(), Some(Error::TooLarge));
    // A picture that is larger than the file says.
    file[size..size + 8].copy_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1]);
    assert!(matches!(Pictures::open(&file).expect("a picture").frame(1), Err(Error::Broken(_))));
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
