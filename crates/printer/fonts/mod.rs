//! The embedded typefaces: which characters they have, and their handles for shaping and for the file.
//!
//! Noto Sans for Latin, Greek and Cyrillic, digits and punctuation; Noto Naskh Arabic and Noto Sans Hebrew for their letters; of Noto Sans
//! Math and Noto Sans Symbols2 what occurs in requirements: operators, arrows, check marks. What none of them has is shown as U+FFFD,
//! since a PDF/A must not show the empty glyph of a font.

use std::sync::Arc;

use parley::FontContext;
use parley::fontique::{Blob, Charmap, Collection, CollectionOptions, SourceCache};

/// The families in the order in which a character looks for its glyph.
pub(crate) const FAMILIES: [&str; 5] =
    ["Noto Sans", "Noto Naskh Arabic", "Noto Sans Hebrew", "Noto Sans Math", "Noto Sans Symbols2"];

static FILES: [&[u8]; 8] = [
    include_bytes!("NotoSans-Regular.ttf"),
    include_bytes!("NotoSans-Bold.ttf"),
    include_bytes!("NotoNaskhArabic-Regular.ttf"),
    include_bytes!("NotoNaskhArabic-Bold.ttf"),
    include_bytes!("NotoSansHebrew-Regular.ttf"),
    include_bytes!("NotoSansHebrew-Bold.ttf"),
    include_bytes!("NotoSansMath-Subset.ttf"),
    include_bytes!("NotoSansSymbols2-Subset.ttf"),
];

/// One embedded font file, by its place among them.
pub(crate) type FaceIndex = u8;

pub(crate) struct EmbeddedFonts {
    pub(crate) context: FontContext,
    /// Ids by which parley names the files in what it has shaped.
    blobs: Vec<u64>,
    charmaps: Vec<Charmap<'static>>,
    faces: Vec<krilla::text::Font>,
}

impl EmbeddedFonts {
    /// None where an embedded file is no font.
    pub(crate) fn load() -> Option<Self> {
        let mut collection = Collection::new(CollectionOptions { shared: false, system_fonts: false });
        let (mut blobs, mut charmaps, mut faces) = (Vec::new(), Vec::new(), Vec::new());
        for file in FILES {
            let blob = Blob::new(Arc::new(file));
            blobs.push(blob.id());
            let registered = collection.register_fonts(blob, None);
            let (_, fonts) = registered.first()?;
            charmaps.push(fonts.first()?.charmap_index().charmap(file)?);
            faces.push(krilla::text::Font::new(file.into(), 0)?);
        }
        let context = FontContext { collection, source_cache: SourceCache::default() };
        Some(Self { context, blobs, charmaps, faces })
    }

    pub(crate) fn face_of(&self, blob: u64) -> Option<FaceIndex> {
        self.blobs.iter().position(|known| *known == blob).and_then(|index| FaceIndex::try_from(index).ok())
    }

    pub(crate) fn face(&self, index: FaceIndex) -> Option<&krilla::text::Font> {
        self.faces.get(usize::from(index))
    }

    /// The glyph of the character that stands for those without one, where the face has it.
    pub(crate) fn replacement_glyph(&self, face: FaceIndex) -> Option<u16> {
        let charmap = self.charmaps.get(usize::from(face))?;
        charmap.map(char::REPLACEMENT_CHARACTER).and_then(|glyph| u16::try_from(glyph).ok())
    }

    /// The text with U+FFFD for each character that no face has. What is invisible by nature and of no use to shaping is left out.
    pub(crate) fn covered(&self, text: &str) -> String {
        let mut covered = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '\n' | ' '..='~' => covered.push(character),
                '\t' => covered.push(' '),
                _ if is_left_out(character) => {}
                _ if is_invisible_to_print(character) => covered.push(character),
                _ if is_private(character) || !self.has(character) => covered.push(char::REPLACEMENT_CHARACTER),
                _ => covered.push(character),
            }
        }
        covered
    }

    fn has(&self, character: char) -> bool {
        self.charmaps.iter().any(|charmap| charmap.map(character).is_some_and(|glyph| glyph != 0))
    }
}

/// Characters that shape or order their neighbours and are never drawn: joiners, soft hyphens, direction marks.
pub(crate) fn is_invisible_to_print(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{61c}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Widthless characters whose loss changes nothing that is read: word joiners, variation selectors, fillers, other format characters.
fn is_left_out(character: char) -> bool {
    matches!(character,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
        | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || character.is_control()
}

/// Private use: no reader knows what it means, and PDF/A-2a refuses it.
fn is_private(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_without_a_glyph_is_replaced_where_it_can_be_seen() {
        const USUAL: &str = "Größe ≥ 5 → ✓ ☐ ■ ∞ Ελλάδα Москва مرحبا שלום";
        let fonts = EmbeddedFonts::load().unwrap();
        assert_eq!(fonts.covered(USUAL), USUAL);
        assert_eq!(fonts.covered("a 😀 漢\u{e000}b"), "a \u{fffd} \u{fffd}\u{fffd}b");
        assert_eq!(fonts.covered("a\u{0}\u{feff}\u{fe0f}\tb"), "a b");
        assert!(fonts.replacement_glyph(0).is_some() && fonts.replacement_glyph(1).is_some());
    }
}
