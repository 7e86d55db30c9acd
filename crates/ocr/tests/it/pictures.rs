//! Images of every format give the same result.

use std::io::Cursor;

use image::{DynamicImage, GrayImage, ImageFormat, Rgba, RgbaImage};
use ocr::{Error, Pictures};

/// Returns a wide image: dark on the left, light on the right.
fn sample() -> GrayImage {
    GrayImage::from_fn(64, 48, |x, _| image::Luma([if x < 32 { 16 } else { 240 }]))
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).expect("a file");
    file.into_inner()
}

fn assert_sample(file: &[u8]) {
    let frame = Pictures::open(file).expect("a picture").frame(1).expect("a frame");
    assert_eq!((frame.grey.width(), frame.grey.height()), (64, 48));
    let at = |x: usize| frame.grey.pixels()[20 * 64 + x];
    assert!(at(10) < 40 && at(50) > 220, "{} {}", at(10), at(50));
}

#[test]
fn every_kind_is_decoded() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::Bmp, ImageFormat::WebP] {
        let picture = DynamicImage::ImageRgb8(DynamicImage::ImageLuma8(sample()).to_rgb8());
        assert_sample(&encoded(&picture, format));
    }
    assert_sample(include_bytes!("../data/sample.jp2"));
    assert_sample(include_bytes!("../data/sample.avif"));
}

/// Length, type, content.
fn boxed(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 8).expect("a short box").to_be_bytes();
    [&length[..], kind, content].concat()
}

/// Returns the data of the picture in an AVIF file of one, which follows the list of pictures.
fn av1(file: &[u8]) -> &[u8] {
    let start = file.windows(4).position(|part| part == b"mdat").expect("data") + 4;
    &file[start..]
}

/// Returns an AVIF file of two tiles side by side, turned against the clock by a quarter.
fn grid() -> Vec<u8> {
    let tile = av1(include_bytes!("../data/sample.avif"));
    let info = |id: u8, kind: &[u8; 4]| boxed(b"infe", &[&[2, 0, 0, 0, 0, id, 0, 0][..], kind, &[0]].concat());
    let infos = [&[0, 0, 0, 0, 0, 3][..], &info(1, b"grid"), &info(2, b"av01"), &info(3, b"av01")].concat();
    let properties = [
        boxed(b"ispe", &[0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 40]),
        boxed(b"ispe", &[0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 48]),
        boxed(b"irot", &[1]),
    ];
    let of_items = [0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 2, 1, 0x83, 0, 2, 1, 2, 0, 3, 1, 2];
    let length = u32::try_from(tile.len()).expect("a short tile").to_be_bytes();
    let shape = [0, 0, 0, 1, 0, 100, 0, 40];
    // All data is beside the list: first the shape of the grid, then the tile, which both places show.
    let place =
        |id: u8, start: u8, length: [u8; 4]| [&[0, id, 0, 1, 0, 0, 0, 1, 0, 0, 0, start][..], &length[..]].concat();
    let places =
        [&[1, 0, 0, 0, 0x44, 0, 0, 3][..], &place(1, 0, [0, 0, 0, 8]), &place(2, 8, length), &place(3, 8, length)];
    let meta = [
        vec![0; 4],
        boxed(b"pitm", &[0, 0, 0, 0, 0, 1]),
        boxed(b"iinf", &infos),
        boxed(b"iref", &[&[0; 4][..], &boxed(b"dimg", &[0, 1, 0, 2, 0, 2, 0, 3])].concat()),
        boxed(b"iprp", &[boxed(b"ipco", &properties.concat()), boxed(b"ipma", &of_items)].concat()),
        boxed(b"iloc", &places.concat()),
        boxed(b"idat", &[&shape[..], tile].concat()),
    ];
    [boxed(b"ftyp", b"mif1\0\0\0\0mif1avif"), boxed(b"meta", &meta.concat())].concat()
}

#[test]
fn avif_may_have_tiles_and_be_turned() {
    let grey = Pictures::open(&grid()).expect("a picture").frame(1).expect("a frame").grey;
    assert_eq!((grey.width(), grey.height()), (40, 100));
    // From the bottom upwards what was drawn from left to right: dark, light, dark, light.
    let shades = [95, 45, 30, 2].map(|y| grey.pixels()[y * 40 + 20]);
    assert!(shades[0] < 40 && shades[1] > 220 && shades[2] < 40 && shades[3] > 220, "{shades:?}");
}

#[test]
fn light_ink_on_a_clear_ground_of_avif_is_dark() {
    let grey = Pictures::open(include_bytes!("../data/alpha.avif")).expect("a picture").frame(1).expect("a frame").grey;
    let at = |x: usize, y: usize| grey.pixels()[y * 64 + x];
    assert!(at(12, 12) < 40 && at(40, 30) > 220, "{} {}", at(12, 12), at(40, 30));
}

#[test]
fn paper_shows_where_a_picture_is_clear() {
    let clear = RgbaImage::from_fn(8, 8, |x, _| Rgba([0, 0, 0, if x < 4 { 255 } else { 0 }]));
    let file = encoded(&DynamicImage::ImageRgba8(clear), ImageFormat::Png);
    let grey = Pictures::open(&file).expect("a picture").frame(1).expect("a frame").grey;
    assert_eq!((grey.pixels()[0], grey.pixels()[7]), (0, 255));
}

#[test]
fn tiff_has_pages() {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut file).expect("an encoder");
    for _ in 0..2 {
        encoder.write_image::<tiff::encoder::colortype::Gray8>(64, 48, sample().as_raw()).expect("a page");
    }
    encoder.write_image::<tiff::encoder::colortype::Gray16>(1, 1, &[0xffff]).expect("a page");
    let file = file.into_inner();
    let pictures = Pictures::open(&file).expect("a picture");
    assert_eq!(pictures.count(), 3);
    assert_sample(&file);
    assert_eq!(pictures.frame(3).expect("a frame").grey.pixels(), [255]);
    assert_eq!(pictures.frame(4).err(), Some(Error::NoPage(4)));
    assert_eq!(pictures.frame(0).err(), Some(Error::NoPage(0)));
}
