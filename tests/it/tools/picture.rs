//! Pictures that are too large for services.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use codebot::kernel::message::Block;
use codebot::tools::picture::{MAX_SIDE, fit};
use serde_json::json;

use super::{Desk, text};

/// Left half red, right half blue.
fn halves(wide: u32, high: u32) -> Vec<u8> {
    let side = |x| if x < wide / 2 { [255, 0, 0] } else { [0, 0, 255] };
    (0..high).flat_map(|_| (0..wide).flat_map(side)).collect()
}

fn png(wide: u32, high: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, wide, high);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&halves(wide, high)).unwrap();
    bytes
}

fn jpeg(wide: u16, high: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let data = halves(u32::from(wide), u32::from(high));
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, 90);
    encoder.encode(&data, wide, high, jpeg_encoder::ColorType::Rgb).unwrap();
    bytes
}

#[test]
fn what_fits_stays_as_it_is() {
    assert_eq!(fit("image/png", &png(MAX_SIDE, 3)), Ok(None));
    assert_eq!(fit("image/jpeg", &jpeg(100, 2000)), Ok(None));
    assert_eq!(fit("image/gif", b"GIF89a\xd0\x07\x10\0"), Ok(None));
    // Nobody knows better than the service what a broken head means.
    assert_eq!(fit("image/png", b"\x89PNG\r\n\x1a\n"), Ok(None));
}

#[test]
fn what_is_too_wide_is_scaled_and_keeps_its_shape_and_colours() {
    let small = fit("image/png", &png(4000, 20)).unwrap().unwrap();
    assert_eq!((small.media_type, small.size), ("image/png", (2000, 10)));
    let mut reader = png::Decoder::new(std::io::Cursor::new(&small.bytes)).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut data).unwrap();
    assert_eq!(
        (&data[..4], &data[1999 * 4..2000 * 4]),
        (&[255, 0, 0, 255][..], &[0, 0, 255, 255][..])
    );
    let small = fit("image/jpeg", &jpeg(30, 3000)).unwrap().unwrap();
    assert_eq!((small.media_type, small.size), ("image/jpeg", (20, 2000)));
    assert_eq!(fit("image/jpeg", &small.bytes), Ok(None));
}

#[test]
fn what_cannot_be_scaled_is_refused_with_the_reason() {
    let gif = fit("image/gif", b"GIF89a\xd1\x07\x10\0").unwrap_err();
    assert!(gif.contains("2001 × 16") && gif.contains("convert it"), "{gif}");
    let mut head = png(4000, 1);
    head.truncate(60);
    assert_eq!(fit("image/png", &head).unwrap_err(), "it can't be decoded");
    // A small file that would unfold to gigabytes.
    head[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    assert!(fit("image/png", &head).unwrap_err().contains("too many"));
}

#[tokio::test]
async fn reading_a_large_picture_shows_a_smaller_one() {
    let desk = Desk::new();
    desk.put("wide.png", png(2400, 12));
    let shown = desk.call("read", json!({"file_path": "wide.png"})).await;
    assert!(text(&shown).contains("shown at 2000 × 10 pixels"), "{}", text(&shown));
    let data = shown.blocks.iter().find_map(|block| match block {
        Block::Image { data, .. } => Some(STANDARD.decode(data).unwrap()),
        _ => None,
    });
    assert_eq!(fit("image/png", &data.unwrap()), Ok(None));
    desk.put("wide.gif", b"GIF89a\xd1\x07\x10\0");
    let refused = desk.ok("read", json!({"file_path": "wide.gif"})).await;
    assert!(refused.contains("not shown: 2001 × 16 pixels"), "{refused}");
}
