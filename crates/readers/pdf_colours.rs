//! Which colours of a PDF are white, or so nearly that they are not seen on white.

use pdf_extract::{Dictionary, Document, Object};

/// Least value of each component of a light that counts as white, and the most ink: 94 and 6 per cent.
const LIGHT: f32 = 0.94;
const INK: f32 = 0.06;

/// The opacity that masks and other ways of blending are taken for: neither invisible nor covering.
const HALF: f32 = 0.5;

/// What the components of a colour mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourFamily {
    /// Grey or red, green and blue: the more the lighter.
    Light,
    /// Four inks, or inks with names of their own: the more the darker.
    Ink,
    /// Like lights, unless there are four components.
    Profile,
    /// Lightness up to 100, and two components that are 0 for greys.
    Lab,
    /// Patterns, palettes, what is not known. None of their colours counts as white.
    Other,
}

impl ColourFamily {
    /// Returns the family of a colour space that a content stream names.
    pub fn named(name: &[u8], resources: &Dictionary, document: &Document) -> Self {
        let known = Self::of(name);
        if known != Self::Other {
            return known;
        }
        let spaces = resources.get_deref(b"ColorSpace", document).and_then(Object::as_dict);
        let space = spaces.and_then(|spaces| spaces.get_deref(name, document));
        // `simplified` puts the name of the family, or where it is, second.
        let family = space.and_then(Object::as_array).ok().and_then(|space| space.get(1));
        match family {
            Some(Object::Name(family)) => Self::of(family),
            Some(Object::Reference(id)) => match document.get_object(*id) {
                Ok(Object::Name(family)) => Self::of(family),
                Ok(Object::Array(space)) => match space.first() {
                    Some(Object::Name(family)) => Self::of(family),
                    _ => Self::Other,
                },
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }

    fn of(name: &[u8]) -> Self {
        match name {
            b"DeviceGray" | b"DeviceRGB" | b"CalGray" | b"CalRGB" => Self::Light,
            b"DeviceCMYK" | b"Separation" | b"DeviceN" => Self::Ink,
            b"ICCBased" => Self::Profile,
            b"Lab" => Self::Lab,
            _ => Self::Other,
        }
    }

    /// Whether these operands choose white. Names of patterns are no colours.
    pub fn is_white(self, operands: &[Object]) -> bool {
        let each = |wanted: &dyn Fn(f32) -> bool| {
            !operands.is_empty() && operands.iter().all(|operand| operand.as_float().is_ok_and(wanted))
        };
        match self {
            Self::Light => each(&|light| light >= LIGHT),
            Self::Profile if operands.len() != 4 => each(&|light| light >= LIGHT),
            Self::Ink | Self::Profile => each(&|ink| ink <= INK),
            Self::Lab => match operands {
                [light, red, yellow] => {
                    let is_grey = |colour: &Object| colour.as_float().is_ok_and(|colour| colour.abs() <= 5.0);
                    light.as_float().is_ok_and(|light| light >= 100.0 * LIGHT) && is_grey(red) && is_grey(yellow)
                }
                _ => false,
            },
            Self::Other => false,
        }
    }
}

/// Returns what is kept of a colour space: pdf-extract takes it for one of patterns, whose colours it does not look at,
/// and the second entry is the name of its family or a reference to the space.
pub fn simplified(space: &Object) -> Object {
    let pattern = Object::Name(b"Pattern".to_vec());
    let is_pattern = |entry: &Object| *entry == pattern;
    let family = match space {
        Object::Name(_) | Object::Reference(_) => Some(space),
        // This may be what was kept already.
        Object::Array(space) if space.first().is_some_and(is_pattern) => space.get(1),
        Object::Array(space) => space.first(),
        _ => None,
    };
    let family = family.filter(|family| matches!(family, Object::Name(_) | Object::Reference(_))).cloned();
    Object::Array(std::iter::once(pattern).chain(family).collect())
}

/// Returns what is kept of a graphics state: how opaque fills are.
pub fn simplified_state(opacity: Option<f32>) -> Object {
    Object::Dictionary(opacity.map(|opacity| ("ca", Object::Real(opacity))).into_iter().collect())
}

/// Returns how opaque fills are in a graphics state, if it says so.
pub fn opacity(state: &Object) -> Option<f32> {
    let Object::Dictionary(state) = state else { return None };
    let is_other = |key: &[u8], usual: &[&[u8]]| {
        state.get(key).is_ok_and(|value| !matches!(value, Object::Name(name) if usual.contains(&name.as_slice())))
    };
    if is_other(b"SMask", &[b"None"]) || is_other(b"BM", &[b"Normal", b"Compatible"]) {
        return Some(HALF);
    }
    state.get(b"ca").and_then(Object::as_float).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(numbers: &[f32]) -> Vec<Object> {
        numbers.iter().map(|number| Object::Real(*number)).collect()
    }

    #[test]
    fn white_is_much_light_or_no_ink() {
        for (family, white, colour) in [
            (ColourFamily::Light, numbers(&[1.0, 0.95, 1.0]), numbers(&[1.0, 1.0, 0.6])),
            (ColourFamily::Light, vec![Object::Integer(1)], numbers(&[0.87])),
            (ColourFamily::Ink, numbers(&[0.0]), vec![Object::Integer(1)]),
            (ColourFamily::Profile, numbers(&[1.0, 1.0, 1.0]), numbers(&[0.0, 0.0, 0.0])),
            (ColourFamily::Profile, numbers(&[0.0, 0.0, 0.0, 0.0]), numbers(&[1.0, 1.0, 1.0, 1.0])),
            (ColourFamily::Lab, numbers(&[100.0, 0.0, 1.0]), numbers(&[100.0, 0.0, 60.0])),
        ] {
            assert!(family.is_white(&white), "{family:?} {white:?}");
            assert!(!family.is_white(&colour), "{family:?} {colour:?}");
        }
        assert!(!ColourFamily::Light.is_white(&[]));
        assert!(!ColourFamily::Light.is_white(&[Object::Name(b"P".to_vec())]));
        assert!(!ColourFamily::Other.is_white(&numbers(&[1.0])));
    }

    #[test]
    fn what_is_kept_of_a_space_is_kept_again() {
        let name = |name: &str| Object::Name(name.into());
        let profile = Object::Array(vec![name("ICCBased"), Object::Reference((7, 0))]);
        let kept = simplified(&profile);
        assert_eq!(kept, Object::Array(vec![name("Pattern"), name("ICCBased")]));
        assert_eq!(simplified(&kept), kept);
        assert_eq!(simplified(&Object::Null), Object::Array(vec![name("Pattern")]));
    }
}
