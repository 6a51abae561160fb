//! One HTML file without scripts and without anything from outside, laid out for the screen and for paper.
//!
//! It is written by [`Markup`], which takes markup only from the program's own text: whatever else goes into the file is escaped.

use crate::fault::ExportFault;
use crate::markdown::has_summary;
use crate::outline::{OutlineEntry, OutlineFact, OutlineSection, head, sections, source_line, summary_lists};
use crate::references::RequirementCodes;
use crate::specification::{CriterionEntry, Specification};
use crate::text::{clean, clean_line, direction_of};
use crate::words::{Label, Words};

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded and nothing runs; the only style is this file's own, by its SHA-256.
const POLICY: &str = "default-src 'none'; style-src 'sha256-VsNqXQQliW06D01ZMnYhRUCE9yQdMBEKe5do2A+xSG4='; base-uri \
    'none'; form-action 'none'";

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    let words = Words::of(&specification.project.language);
    let codes = RequirementCodes::of(specification);
    let mut page = Markup { words, out: String::new() };
    page.document(specification, &codes);
    Ok(page.out.into_bytes())
}

struct Markup {
    words: Words,
    out: String,
}

impl Markup {
    /// Markup of the program itself.
    fn tag(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    fn label(&mut self, label: Label) {
        self.escaped(self.words.label(label));
    }

    /// The text of a stranger; line ends stay.
    fn text(&mut self, text: &str) {
        self.escaped(&clean(text));
    }

    fn line(&mut self, text: &str) {
        self.escaped(&clean_line(text));
    }

    fn escaped(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                _ => self.out.push(character),
            }
        }
    }

    /// Opens an element whose direction is that of the text in it.
    fn open(&mut self, start: &'static str, text: &str) {
        self.tag(start);
        if let Some(direction) = direction_of(text) {
            self.tag(" dir=\"");
            self.tag(direction.as_str());
            self.tag("\"");
        }
        self.tag(">");
    }

    fn document(&mut self, specification: &Specification, codes: &RequirementCodes<'_>) {
        let project = &specification.project;
        self.tag("<!DOCTYPE html>\n<html lang=\"");
        self.tag(self.words.language().tag());
        self.tag("\" dir=\"");
        self.tag(self.words.direction().as_str());
        self.tag("\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"");
        self.tag(POLICY);
        self.tag("\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
        self.tag("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
        self.line(&project.name);
        self.tag("</title>\n<style>");
        self.tag(STYLE);
        self.tag("</style>\n</head>\n<body>\n<header>\n");
        self.open("<h1", &project.name);
        self.line(&project.name);
        self.tag("</h1>\n<p>");
        self.label(Label::Specification);
        self.tag("</p>\n<dl>\n");
        for (label, value) in head(specification) {
            self.fact(label, |page| page.line(value));
        }
        self.tag("</dl>\n");
        self.prose(&project.description);
        self.tag("</header>\n");
        self.contents(specification, codes);
        self.tag("<main>\n");
        self.summary(specification);
        for section in sections(specification, self.words, codes) {
            self.section_start(section.label, section.anchor);
            section.entries.for_each(|entry| self.entry(&entry));
            self.tag("</section>\n");
        }
        self.tag("</main>\n</body>\n</html>\n");
    }

    fn contents(&mut self, specification: &Specification, codes: &RequirementCodes<'_>) {
        self.tag("<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">");
        self.label(Label::Contents);
        self.tag("</h2>\n<ul>\n");
        if has_summary(specification) {
            self.tag("<li><a href=\"#summary\">");
            self.label(Label::Summary);
            self.tag("</a></li>\n");
        }
        for OutlineSection { label, anchor, entries } in sections(specification, self.words, codes) {
            self.tag("<li><a href=\"#");
            self.tag(anchor);
            self.tag("\">");
            self.label(label);
            self.tag("</a>\n<ul>\n");
            for entry in entries {
                self.tag("<li>");
                self.link(entry.code, Some(&entry.anchor));
                self.open(" <bdi", entry.title);
                self.line(entry.title);
                self.tag("</bdi></li>\n");
            }
            self.tag("</ul></li>\n");
        }
        self.tag("</ul>\n</nav>\n");
    }

    fn summary(&mut self, specification: &Specification) {
        if !has_summary(specification) {
            return;
        }
        self.section_start(Label::Summary, "summary");
        self.prose(&specification.summary.text);
        for (label, texts) in summary_lists(specification) {
            self.tag("<h3>");
            self.label(label);
            self.tag("</h3>\n<ul>\n");
            for text in texts {
                self.open("<li class=\"text\"", text);
                self.text(text);
                self.tag("</li>\n");
            }
            self.tag("</ul>\n");
        }
        self.tag("</section>\n");
    }

    fn section_start(&mut self, label: Label, anchor: &'static str) {
        self.tag("<section aria-labelledby=\"");
        self.tag(anchor);
        self.tag("\">\n<h2 id=\"");
        self.tag(anchor);
        self.tag("\">");
        self.label(label);
        self.tag("</h2>\n");
    }

    fn entry(&mut self, entry: &OutlineEntry<'_>) {
        self.tag("<article id=\"");
        self.escaped(&entry.anchor);
        self.tag("\">\n<h3><bdi class=\"code\">");
        self.line(entry.code);
        self.tag("</bdi>");
        self.open(" <bdi", entry.title);
        self.line(entry.title);
        self.tag("</bdi></h3>\n");
        self.prose(entry.text.unwrap_or_default());
        if !entry.facts.is_empty() {
            self.tag("<dl>\n");
            for (label, fact) in &entry.facts {
                self.fact(*label, |page| page.fact_value(fact));
            }
            self.tag("</dl>\n");
        }
        self.criteria(entry.criteria);
        if !entry.sources.is_empty() {
            self.tag("<h4>");
            self.label(Label::Sources);
            self.tag("</h4>\n<ul>\n");
            for source in entry.sources {
                self.tag("<li><bdi>");
                self.line(&source_line(self.words, source));
                self.tag("</bdi>");
                if !source.quote.trim().is_empty() {
                    self.open("<blockquote", &source.quote);
                    self.text(&source.quote);
                    self.tag("</blockquote>");
                }
                self.tag("</li>\n");
            }
            self.tag("</ul>\n");
        }
        self.tag("</article>\n");
    }

    fn criteria(&mut self, criteria: &[CriterionEntry]) {
        if criteria.is_empty() {
            return;
        }
        self.tag("<h4>");
        self.label(Label::AcceptanceCriteria);
        self.tag("</h4>\n<ul>\n");
        for criterion in criteria {
            self.tag("<li><bdi class=\"code\">");
            self.line(&criterion.code);
            self.tag("</bdi>");
            self.open(" <bdi class=\"text\"", &criterion.text);
            self.text(&criterion.text);
            self.tag("</bdi>\n<dl>\n");
            let steps =
                [(Label::Given, &criterion.given), (Label::When, &criterion.when), (Label::Then, &criterion.then)];
            for (label, step) in steps {
                if let Some(step) = step {
                    self.fact(label, |page| page.value(step));
                }
            }
            self.tag("</dl></li>\n");
        }
        self.tag("</ul>\n");
    }

    fn fact(&mut self, label: Label, value: impl FnOnce(&mut Self)) {
        self.tag("<dt>");
        self.label(label);
        self.tag("</dt><dd>");
        value(self);
        self.tag("</dd>\n");
    }

    fn fact_value(&mut self, fact: &OutlineFact<'_>) {
        match fact {
            OutlineFact::Text(text) => self.value(text),
            OutlineFact::Lines(lines) => {
                self.tag("<ul>");
                for line in lines {
                    self.open("<li", line);
                    self.line(line);
                    self.tag("</li>");
                }
                self.tag("</ul>");
            }
            OutlineFact::Codes(codes) => {
                for ((code, anchor), index) in codes.iter().zip(0..) {
                    if index > 0 {
                        self.tag(", ");
                    }
                    self.link(code, anchor.as_deref());
                }
            }
        }
    }

    fn value(&mut self, text: &str) {
        self.open("<bdi class=\"text\"", text);
        self.text(text);
        self.tag("</bdi>");
    }

    /// A link within the page, or only the code where it leads nowhere.
    fn link(&mut self, code: &str, anchor: Option<&str>) {
        if let Some(anchor) = anchor {
            self.tag("<a href=\"#");
            self.escaped(anchor);
            self.tag("\">");
        }
        self.tag("<bdi class=\"code\">");
        self.line(code);
        self.tag("</bdi>");
        if anchor.is_some() {
            self.tag("</a>");
        }
    }

    fn prose(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.open("<p class=\"text\"", text);
            self.text(text);
            self.tag("</p>\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_policy_names_the_style_that_is_in_the_file() {
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE));
        assert!(POLICY.contains(&format!("'sha256-{hash}'")), "{hash}");
    }
}
