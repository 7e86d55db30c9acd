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
