//! The title of the demo's project: what was analysed.

use std::path::Path;

use api_client::sources::SampleFile;

/// What the samples are about.
const SAMPLES: &str = "Lantern: booking for Tarnwick Vale Hospitals";
/// The longest title of one document, in characters; the server takes longer ones.
const MAX_LENGTH: usize = 80;
/// The beginning of a file in which a heading is looked for.
const BEGINNING: usize = 4096;

/// Titles a project after the files in it: the first one's heading or name, and how many there are besides.
pub fn of(files: &[SampleFile], is_of_samples: bool) -> String {
    if is_of_samples {
        return SAMPLES.to_owned();
    }
    let first = files.first().map(of_file).unwrap_or_default();
    match files.len() {
        0 | 1 => first,
        2 => format!("{first}, and another document"),
        count => format!("{first}, and {} other documents", count - 1),
    }
}

/// The heading of a Markdown file, or a file's name without its ending.
fn of_file(file: &SampleFile) -> String {
    let path = Path::new(&file.name);
    let is_markdown =
        path.extension().is_some_and(|ending| ["md", "markdown"].iter().any(|one| ending.eq_ignore_ascii_case(one)));
    let heading = if is_markdown { heading(&file.content) } else { None };
    let name = || path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().replace(['-', '_'], " ");
    let title = heading.unwrap_or_else(name);
    let plain: String = title.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(MAX_LENGTH).collect();
    let mut plain = plain.trim().chars();
    let first = plain.next().map(char::to_uppercase);
    first.map_or_else(|| file.name.clone(), |first| first.chain(plain).collect())
}

fn heading(content: &[u8]) -> Option<String> {
    let beginning = content.get(..BEGINNING.min(content.len())).unwrap_or_default();
    let text = String::from_utf8_lossy(beginning);
    let found = text.lines().find_map(|line| line.trim().strip_prefix("# "))?.trim().to_owned();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{SampleFile, of};

    fn file(name: &str, content: &str) -> SampleFile {
        SampleFile { name: name.to_owned(), content: content.as_bytes().to_vec() }
    }

    #[test]
    fn a_project_is_titled_after_what_was_analysed() {
        let note = file("note-2.md", "\n# Booking by patients\n\nText.\n");
        assert_eq!(of(&[note], false), "Booking by patients");
        for (name, content) in [
            ("house_rules-v2.pdf", "# No"),
            ("house_rules-v2.md", "No heading.\n## Nor this"),
            ("house_rules-v2.MD", "# \n"),
        ] {
            assert_eq!(of(&[file(name, content)], false), "House rules v2", "{name}");
        }
        let many: Vec<SampleFile> = ["wish.txt", "b.txt", "c.txt"].iter().map(|name| file(name, "")).collect();
        assert_eq!(of(&many[..2], false), "Wish, and another document");
        assert_eq!(of(&many, false), "Wish, and 2 other documents");
        assert!(of(&[], true).starts_with("Lantern"));
        assert_eq!(of(&[file("x.md", &format!("# {}", "long ".repeat(50)))], false).chars().count(), 79);
    }
}
