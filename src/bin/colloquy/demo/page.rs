//! Terminal output: lines that fit the width, in colours if the output is a terminal.

use std::io::Write;

use console::{Style, Term};

/// The widest lines; wider ones are hard to read.
const WIDEST: usize = 100;
/// The narrowest lines; narrower ones hold no table.
const NARROWEST: usize = 40;

/// The output, with the width of its lines in columns.
pub struct Screen {
    pub width: usize,
}

impl Screen {
    pub fn of_terminal() -> Self {
        let terminal = Term::stdout();
        let width = terminal.size_checked().map_or(WIDEST, |(_, columns)| usize::from(columns));
        Self { width: width.clamp(NARROWEST, WIDEST) }
    }

    /// Prints a line unchanged. A closed output (`… | head`) is ignored, so that the demo continues.
    #[expect(clippy::unused_self, reason = "a page is what lines are printed on")]
    pub fn line(&self, text: &str) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    pub fn heading(&self, text: &str, aside: &str) {
        let aside = if aside.is_empty() { String::new() } else { format!(" {aside}") };
        let rest = self.width.saturating_sub(text.chars().count() + aside.chars().count() + 5);
        let rule = dim().apply_to("─".repeat(rest.max(2)));
        self.line("");
        self.line(&format!("{} {}{} {rule}", dim().apply_to("──"), bold().apply_to(text), dim().apply_to(aside)));
    }

    /// Prints a text, wrapped and indented by `indent` spaces.
    pub fn text(&self, indent: usize, text: &str, style: &Style) {
        for line in wrapped(text, self.width.saturating_sub(indent)) {
            self.line(&format!("{:indent$}{}", "", style.apply_to(line)));
        }
    }

    /// Prints a text beside a label; further lines are aligned with the first.
    pub fn labelled(&self, label: &str, label_style: &Style, column: usize, text: &str, style: &Style) {
        let lines = wrapped(text, self.width.saturating_sub(column));
        let gap = column.saturating_sub(2 + label.chars().count());
        let label = label_style.apply_to(label);
        let mut lines = lines.iter();
        let first = lines.next().map_or("", String::as_str);
        self.line(&format!("  {label}{:gap$}{}", "", style.apply_to(first)));
        lines.for_each(|line| self.line(&format!("{:column$}{}", "", style.apply_to(line))));
    }
}

pub fn plain() -> Style {
    Style::new()
}
pub fn bold() -> Style {
    Style::new().bold()
}
pub fn dim() -> Style {
    Style::new().dim()
}
pub fn accent() -> Style {
    Style::new().cyan()
}
pub fn good() -> Style {
    Style::new().green()
}
pub fn warning() -> Style {
    Style::new().yellow()
}

/// Wraps a text into lines of at most `width` columns; a longer word is split.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(10);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut taken = 0;
    for word in text.split_whitespace() {
        let columns = console::measure_text_width(word);
        if taken > 0 && taken + 1 + columns > width {
            lines.push(std::mem::take(&mut line));
            taken = 0;
        }
        if taken > 0 {
            line.push(' ');
            taken += 1;
        }
        for character in word.chars() {
            let columns = console::measure_text_width(character.encode_utf8(&mut [0; 4]));
            if taken + columns > width {
                lines.push(std::mem::take(&mut line));
                taken = 0;
            }
            line.push(character);
            taken += columns;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Shortens a text to at most `most` characters, at the end of a word.
pub fn shortened(text: &str, most: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= most {
        return words;
    }
    let beginning: String = words.chars().take(most).collect();
    let whole = beginning.rsplit_once(' ').map_or(beginning.as_str(), |(whole, _)| whole);
    format!("{} …", whole.trim_end_matches([',', ';', ':']))
}

/// Formats a count with its noun: `1 document`, `2 documents`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(count)) }
}

/// Formats a position in a recording as minutes and seconds.
pub fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{:02}:{:02}", seconds / 60, seconds % 60)
}

/// Formats a number with thousands separators.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut apart = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::{grouped, shortened, wrapped};

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        let text = "A call that waits longer than 3 minutes is shown in red; 要件要件要件要件要件要件要件 averyveryverylongwordindeed.";
        for width in [10, 17, 33] {
            let lines = wrapped(text, width);
            assert!(lines.iter().all(|line| console::measure_text_width(line) <= width), "{lines:?}");
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(bare(&lines.concat()), bare(text));
        }
    }

    #[test]
    fn what_is_long_is_shortened_at_a_word() {
        assert_eq!(shortened("the  system\nmust", 40), "the system must");
        assert_eq!(shortened("the system, which must", 13), "the system …");
        assert_eq!((grouped(7), grouped(1234567)), ("7".to_owned(), "1,234,567".to_owned()));
    }
}
