//! Converts any picture to an avatar: the square in its middle, 512 pixels wide, re-encoded. Pure functions.
//!
//! Only the pixels of the upload are retained: no location, no camera data, no text, no second file appended to the
//! first. The declared dimensions are checked before anything is decoded.

use std::io::Cursor;

use image::codecs::webp::WebPEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, guess_format};

/// Width and height of every stored avatar, in pixels.
pub const SIDE: u32 = 512;
/// Media type of every stored avatar: lossless WebP.
pub const MIME_TYPE: &str = "image/webp";
/// The longest side that is decoded, in pixels.
const MAX_SIDE: u32 = 20_000;
/// The maximum number of pixels that are decoded: the 24 million of a phone camera, and a few more. In memory they take
/// 75 MB, and in a progressive JPEG 150 MB more.
const MAX_PIXELS: u64 = 25_000_000;
/// The maximum size of the decoded pixels: with 16 bits per channel there have to be fewer.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Why a picture was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// It is not a PNG, JPEG or WebP, whatever its name says.
    OtherType,
    /// It has too many pixels.
    TooLarge,
    /// It is truncated or invalid.
    Damaged,
}

/// Returns the middle of the picture as a WebP of [`SIDE`] × [`SIDE`] pixels, upright.
///
/// # Errors
/// See [`Unusable`].
pub fn face(bytes: &[u8]) -> Result<Vec<u8>, Unusable> {
    let format = guess_format(bytes).map_err(|_| Unusable::OtherType)?;
    if !matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP) {
        return Err(Unusable::OtherType);
    }
    let mut picture = unpack(bytes, format)?;
    let (width, height) = (picture.width(), picture.height());
    let side = width.min(height);
    if side == 0 {
        return Err(Unusable::Damaged);
    }
    // Cropped before it is scaled: otherwise a line of 20,000 pixels would become a picture of five billion.
    if width != height {
        picture = picture.crop_imm((width - side) / 2, (height - side) / 2, side, side);
    }
    let picture = picture.resize_exact(SIDE, SIDE, FilterType::CatmullRom);
    let has_alpha = picture.color().has_alpha();
    let picture: DynamicImage = if has_alpha { picture.into_rgba8().into() } else { picture.into_rgb8().into() };
    let mut encoded = Vec::new();
    picture.write_with_encoder(WebPEncoder::new_lossless(&mut encoded)).map_err(|_| Unusable::Damaged)?;
    Ok(encoded)
}

/// Decodes the pixels and applies the orientation from the metadata. Of an animation, the first picture is used.
fn unpack(bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, Unusable> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(unusable)?;
    let (width, height) = decoder.dimensions();
    // Not every decoder honours the memory limit.
    if u64::from(width) * u64::from(height) > MAX_PIXELS || decoder.total_bytes() > MAX_BYTES {
        return Err(Unusable::TooLarge);
    }
    // Unreadable orientation metadata is ignored.
    let orientation = decoder.orientation();
    let mut picture = DynamicImage::from_decoder(decoder).map_err(unusable)?;
    if let Ok(orientation) = orientation {
        picture.apply_orientation(orientation);
    }
    Ok(picture)
}

fn unusable(error: ImageError) -> Unusable {
    match error {
        ImageError::Limits(_) => Unusable::TooLarge,
        _ => Unusable::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::{SIDE, Unusable, face};
    use image::{DynamicImage, GenericImageView, ImageFormat, Rgb, RgbImage};
    use proptest::prelude::*;
    use std::io::Cursor;

    use complexity::assert_linear;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let shade = |x: u32, y: u32| Rgb([(x % 251) as u8, (y % 241) as u8, 90]);
        let mut bytes = Vec::new();
        let picture = DynamicImage::from(RgbImage::from_fn(width, height, shade));
        picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        bytes
    }

    #[test]
    fn of_any_size_comes_one_size() {
        for (width, height) in [(1, 1), (1, 20_000), (20_000, 1), (511, 513), (2_000, 700)] {
            let face = face(&encoded(width, height, ImageFormat::Png)).unwrap();
            let face = image::load_from_memory_with_format(&face, ImageFormat::WebP).unwrap();
            assert_eq!(face.dimensions(), (SIDE, SIDE), "{width} × {height}");
        }
    }

    #[test]
    fn one_pixel_more_than_the_longest_side_is_refused_before_it_is_unpacked() {
        assert_eq!(face(&encoded(1, 20_001, ImageFormat::Png)), Err(Unusable::TooLarge));
    }

    #[test]
    fn a_picture_is_decoded_in_proportion_to_its_pixels() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let tall = |n: usize| encoded(400, u32::try_from(n).unwrap(), format);
            assert_linear(&format!("{format:?}"), 400, tall, |bytes| face(bytes));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_comes_is_a_face_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(face(&noise).is_ok_and(|face| !face.is_empty()) || face(&noise).is_err());
        }

        #[test]
        fn a_picture_that_was_tampered_with_does_no_harm(
            kind in 0_usize..3, at in 0_usize..10_000, bit in 0_u32..8, cut in 0_usize..10_000
        ) {
            let format = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP][kind];
            let mut bytes = encoded(24, 18, format);
            let (at, cut) = (at % bytes.len(), cut % bytes.len());
            bytes[at] ^= 1 << bit;
            let _ = face(&bytes);
            let _ = face(&bytes[..cut]);
        }
    }
}
