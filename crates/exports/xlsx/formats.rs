//! How cells look. The direction of a text is left to its first strong letter, which is what spreadsheets do on their own.

use rust_xlsxwriter::{Color, Format, FormatAlign, FormatBorder};

pub(super) struct CellFormats {
    pub(super) heading: Format,
    pub(super) text: Format,
    /// For what would be a formula if somebody typed it: with the mark of a leading apostrophe, so that editing the cell keeps it a text.
    pub(super) inert: Format,
    pub(super) whole: Format,
    pub(super) ratio: Format,
    pub(super) time: Format,
    pub(super) date: Format,
}

impl CellFormats {
    pub(super) fn new() -> Self {
        let cell = Format::new().set_align(FormatAlign::Top);
        let text = cell.clone().set_text_wrap();
        Self {
            heading: text
                .clone()
                .set_bold()
                .set_background_color(Color::RGB(0xE7_EC_F3))
                .set_border_bottom(FormatBorder::Thin),
            inert: text.clone().set_quote_prefix(),
            text,
            whole: cell.clone().set_num_format("0"),
            ratio: cell.clone().set_num_format("0.00"),
            time: cell.clone().set_num_format("yyyy-mm-dd hh:mm"),
            date: cell.set_num_format("yyyy-mm-dd"),
        }
    }
}
