//! Pixels, and PNG files of them.

use super::Colour;

/// An image: rows of pixels from the top, each from the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

impl Image {
    /// An image of one colour.
    #[must_use]
    pub fn new(width: usize, height: usize, colour: Colour) -> Self {
        Self { width, height, pixels: vec![colour; width * height] }
    }

    /// Number of columns.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The pixel in a column and a row; outside of the image it is clear.
    #[must_use]
    pub fn at(&self, column: usize, row: usize) -> Colour {
        if column < self.width && row < self.height {
            self.pixels[row * self.width + column]
        } else {
            Colour::CLEAR
        }
    }

    /// The pixels, row by row.
    #[must_use]
    pub fn pixels(&self) -> &[Colour] {
        &self.pixels
    }

    /// The pixels, row by row, to be changed.
    pub fn pixels_mut(&mut self) -> &mut [Colour] {
        &mut self.pixels
    }

    /// The image as a PNG file. Images without transparent pixels have three channels.
    ///
    /// # Panics
    /// If the image has no pixel, which is not a PNG file.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        let opaque = self.pixels.iter().all(|c| c.0[3] == 255);
        let channels = if opaque { 3 } else { 4 };
        let data: Vec<u8> = self.pixels.iter().flat_map(|c| c.0.into_iter().take(channels)).collect();
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&data));
        assert!(written.is_ok(), "an image of {} × {} pixels is not a PNG file", self.width, self.height);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_pixels_of_the_image() {
        for opacity in [1.0, 0.5] {
            let mut image = Image::new(3, 2, Colour::rgb(1, 2, 3));
            image.pixels_mut()[4] = Colour::rgb(200, 100, 50).faded(opacity);
            let file = image.png();
            let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
            let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut bytes).unwrap();
            assert_eq!((info.width, info.height), (3, 2));
            let channels = bytes.len() / 6;
            assert_eq!(channels, if opacity < 1.0 { 4 } else { 3 });
            for (found, expected) in bytes.chunks(channels).zip(image.pixels()) {
                assert_eq!(found, &expected.0[..channels]);
            }
        }
    }
}
