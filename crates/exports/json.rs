//! The specification as data, exactly as it is.

use serde::Serialize;

use crate::fault::ExportFault;
use crate::specification::Specification;

/// It changes with the names or meanings of fields; new fields do not change it.
const JSON_FORMAT: &str = "colloquy-specification/1";

#[derive(Serialize)]
struct JsonFile<'a> {
    format: &'static str,
    #[serde(flatten)]
    specification: &'a Specification,
}

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    let text = serde_json::to_string_pretty(&JsonFile { format: JSON_FORMAT, specification })
        .map_err(|error| ExportFault(format!("The JSON could not be written: {error}")))?;
    let mut file = String::with_capacity(text.len() + 1);
    for character in text.chars() {
        // These only occur within strings. Escaped they mean the same, and an editor that shows the file does not reorder it.
        if matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
        {
            file.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            file.push(character);
        }
    }
    file.push('\n');
    Ok(file.into_bytes())
}
