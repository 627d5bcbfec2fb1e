//! Makes pictures fit: services take at most so many pixels and bytes. PNG and JPEG are scaled
//! down; other kinds are refused when they are too large. Not here: what a service reads at all.

use std::io::Cursor;

use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// Most pixels along one side.
pub const MAX_SIDE: u32 = 2000;
/// Most bytes.
pub const MAX_BYTES: usize = 5 * 1024 * 1024;
/// Most pixels that are decoded: what a small file unfolds to must not fill the memory.
const MAX_PIXELS: u64 = 64_000_000;
/// Quality of a scaled JPEG.
const QUALITY: u8 = 85;

/// A picture that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    /// Its media type now.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Width and height in pixels.
    pub size: (u32, u32),
}

/// Pixels in red, green, blue and alpha.
#[derive(Debug)]
struct Pixels {
    wide: u32,
    high: u32,
    rgba: Vec<u8>,
}

/// `None` when the picture fits as it is, else a smaller one, or why there is none.
///
/// # Errors
/// One line: too large and of a kind that is not scaled, or broken.
pub fn fit(media_type: &str, bytes: &[u8]) -> Result<Option<Small>, String> {
    let size = size(media_type, bytes);
    let fits = size.is_none_or(|(wide, high)| wide.max(high) <= MAX_SIDE);
    if fits && bytes.len() <= MAX_BYTES {
        return Ok(None);
    }
    let (wide, high) = size.ok_or("its size can't be read")?;
    if u64::from(wide) * u64::from(high) > MAX_PIXELS {
        return Err(format!("{wide} × {high} pixels are too many"));
    }
    let pixels = match media_type {
        "image/png" => png_pixels(bytes),
        "image/jpeg" => jpeg_pixels(bytes),
        _ => {
            return Err(format!(
                "{wide} × {high} pixels; only PNG and JPEG above {MAX_SIDE} pixels or {} MB are \
                 scaled; convert it",
                MAX_BYTES / 1024 / 1024
            ));
        }
    };
    let small = scaled(&pixels.ok_or("it can't be decoded")?);
    let size = (small.wide, small.high);
    if media_type == "image/png" {
        let bytes = as_png(&small).ok_or("it can't be written")?;
        if bytes.len() <= MAX_BYTES {
            return Ok(Some(Small { media_type: "image/png", bytes, size }));
        }
    }
    let bytes = as_jpeg(&small).ok_or("it can't be written")?;
    if bytes.len() > MAX_BYTES {
        return Err("it stays too large when it is scaled".to_owned());
    }
    Ok(Some(Small { media_type: "image/jpeg", bytes, size }))
}

/// Width and height as the head of the file says.
fn size(media_type: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    let little =
        |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    match media_type {
        "image/png" => {
            let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
            Some((big(16)?, big(20)?))
        }
        "image/jpeg" => {
            let mut decoder = JpegDecoder::new(Cursor::new(bytes));
            decoder.decode_headers().ok()?;
            let (wide, high) = decoder.dimensions()?;
            Some((u32::try_from(wide).ok()?, u32::try_from(high).ok()?))
        }
        "image/gif" => Some((little(6)?, little(8)?)),
        "image/webp" => match bytes.get(12..16)? {
            b"VP8 " => Some((little(26)? & 0x3fff, little(28)? & 0x3fff)),
            b"VP8L" => {
                let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
                Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
            }
            b"VP8X" => {
                let three = |at: usize| Some(little(at)? | u32::from(*bytes.get(at + 2)?) << 16);
                Some((three(24)? + 1, three(27)? + 1))
            }
            _ => None,
        },
        _ => None,
    }
}

fn png_pixels(bytes: &[u8]) -> Option<Pixels> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(
        png::Transformations::normalize_to_color8() | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().ok()?;
    let mut data = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut data).ok()?;
    data.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::Rgba => data,
        png::ColorType::GrayscaleAlpha => data
            .chunks_exact(2)
            .flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]])
            .collect(),
        png::ColorType::Rgb => opaque(&data),
        png::ColorType::Grayscale | png::ColorType::Indexed => return None,
    };
    Some(Pixels { wide: info.width, high: info.height, rgba })
}

fn jpeg_pixels(bytes: &[u8]) -> Option<Pixels> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(bytes), options);
    let data = decoder.decode().ok()?;
    let (wide, high) = decoder.dimensions()?;
    let pixels = wide.checked_mul(high)?;
    if data.len() != pixels * 3 {
        return None;
    }
    let (wide, high) = (u32::try_from(wide).ok()?, u32::try_from(high).ok()?);
    Some(Pixels { wide, high, rgba: opaque(&data) })
}

fn opaque(rgb: &[u8]) -> Vec<u8> {
    rgb.chunks_exact(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect()
}

/// The picture with its longer side at the limit; every pixel is the mean of those it stands for.
fn scaled(from: &Pixels) -> Pixels {
    let longer = from.wide.max(from.high).max(1);
    let side = longer.min(MAX_SIDE);
    let to = |length: u32| {
        let scaled = u64::from(length) * u64::from(side) / u64::from(longer);
        u32::try_from(scaled).unwrap_or(MAX_SIDE).max(1)
    };
    let (wide, high) = (to(from.wide), to(from.high));
    let mut rgba = Vec::with_capacity(wide as usize * high as usize * 4);
    for y in 0..high {
        let rows = span(y, high, from.high);
        for x in 0..wide {
            rgba.extend(mean(from, span(x, wide, from.wide), rows.clone()));
        }
    }
    Pixels { wide, high, rgba }
}

/// Which of `from` pixels the one at `at` of `to` stands for; at least one.
fn span(at: u32, to: u32, from: u32) -> std::ops::Range<usize> {
    let edge = |at: u32| (u64::from(at) * u64::from(from) / u64::from(to)) as usize;
    let start = edge(at);
    start..edge(at + 1).max(start + 1)
}

fn mean(from: &Pixels, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> [u8; 4] {
    let mut sum = [0_u64; 4];
    let mut count = 0;
    for row in rows {
        let line = row * from.wide as usize;
        let cells = from.rgba.get((line + columns.start) * 4..(line + columns.end) * 4);
        for pixel in cells.unwrap_or_default().chunks_exact(4) {
            for (sum, value) in sum.iter_mut().zip(pixel) {
                *sum += u64::from(*value);
            }
            count += 1;
        }
    }
    sum.map(|sum| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX))
}

fn as_png(pixels: &Pixels) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixels.wide, pixels.high);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&pixels.rgba).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

/// What is transparent becomes white.
fn as_jpeg(pixels: &Pixels) -> Option<Vec<u8>> {
    let over_white = |pixel: &[u8]| {
        let alpha = u16::from(pixel[3]);
        [pixel[0], pixel[1], pixel[2]].map(|value| {
            let mixed = (u16::from(value) * alpha + 255 * (255 - alpha)) / 255;
            u8::try_from(mixed).unwrap_or(u8::MAX)
        })
    };
    let rgb: Vec<u8> = pixels.rgba.chunks_exact(4).flat_map(over_white).collect();
    let mut bytes = Vec::new();
    let (wide, high) = (u16::try_from(pixels.wide).ok()?, u16::try_from(pixels.high).ok()?);
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, QUALITY);
    encoder.encode(&rgb, wide, high, jpeg_encoder::ColorType::Rgb).ok()?;
    Some(bytes)
}
