//! One HTML file without scripts and without anything from outside, laid out for the screen and for paper.
//!
//! It is written by [`Markup`], which takes markup only from the program's own text: whatever else goes into the file is escaped.

use crate::fault::ExportFault;
use crate::outline::{
    EntryView, OutlineChapter, OutlineCriterion, OutlineEntry, OutlineFact, OutlineSource, chapters, cover,
    has_summary, summary_lists,
};
use crate::references::RequirementCodes;
use crate::specification::Specification;
use crate::text::{clean, clean_line, direction_of};
use crate::words::{Label, Words};

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded and nothing runs; the only style is this file's own, by its SHA-256.
const POLICY: &str = "default-src 'none'; style-src 'sha256-9ocWTr95oyEco7GrgIo5/h52GCcL9eWZ6GJ4RJtIMgA='; base-uri \
    'none'; form-action 'none'";

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    let words = Words::of(&specification.project.language);
    let mut page = Markup { words, out: String::new() };
    page.document(specification);
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

    fn document(&mut self, specification: &Specification) {
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
        self.tag("</h1>\n<p class=\"kind\">");
        self.label(Label::Specification);
        self.tag("</p>\n");
        let cover = cover(specification, self.words);
        if !cover.is_empty() {
            self.tag("<dl>\n");
            for (label, value) in cover {
                self.tag("<dt>");
                self.label(label);
                self.tag("</dt><dd><bdi>");
                self.line(&value);
                self.tag("</bdi></dd>\n");
            }
            self.tag("</dl>\n");
        }
        self.prose(&project.description);
        self.tag("</header>\n");
        let chapters = chapters(specification, self.words);
        self.contents(specification, &chapters);
        self.tag("<main>\n");
        self.summary(specification);
        let codes = RequirementCodes::of(specification);
        let mut view = EntryView::new(specification, self.words, &codes);
        chapters.iter().for_each(|chapter| self.chapter(chapter, &mut view));
        self.tag("</main>\n</body>\n</html>\n");
    }

    /// Of chapters and groups alone: those of a large specification fit on a page too.
    fn contents(&mut self, specification: &Specification, chapters: &[OutlineChapter<'_>]) {
        let has_summary = has_summary(specification);
        if !has_summary && chapters.is_empty() {
            return;
        }
        self.tag("<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">");
        self.label(Label::Contents);
        self.tag("</h2>\n<ul>\n");
        if has_summary {
            self.tag("<li><a href=\"#summary\">");
            self.label(Label::Summary);
            self.tag("</a></li>\n");
        }
        for OutlineChapter { label, anchor, groups } in chapters {
            self.tag("<li><a href=\"#");
            self.tag(anchor);
            self.tag("\">");
            self.label(*label);
            self.tag("</a>");
            let titled: Vec<(&str, &str)> =
                groups.iter().filter_map(|group| Some((group.title?, &*group.anchor))).collect();
            if !titled.is_empty() {
                self.tag("\n<ul>\n");
                for (title, anchor) in titled {
                    self.tag("<li><a href=\"#");
                    self.escaped(anchor);
                    self.tag("\">");
                    self.escaped(title);
                    self.tag("</a></li>\n");
                }
                self.tag("</ul>");
            }
            self.tag("</li>\n");
        }
        self.tag("</ul>\n</nav>\n");
    }

    fn summary(&mut self, specification: &Specification) {
        if !has_summary(specification) {
            return;
        }
        self.chapter_start(Label::Summary, "summary");
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

    fn chapter_start(&mut self, label: Label, anchor: &'static str) {
        self.tag("<section aria-labelledby=\"");
        self.tag(anchor);
        self.tag("\">\n<h2 id=\"");
        self.tag(anchor);
        self.tag("\">");
        self.label(label);
        self.tag("</h2>\n");
    }

    fn chapter<'a>(&mut self, chapter: &OutlineChapter<'a>, view: &mut EntryView<'a>) {
        self.chapter_start(chapter.label, chapter.anchor);
        for group in &chapter.groups {
            if let Some(title) = group.title {
                self.tag("<h3 id=\"");
                self.escaped(&group.anchor);
                self.tag("\">");
                self.escaped(title);
                self.tag("</h3>\n");
            }
            for section in &group.sections {
                if let Some(title) = section.title {
                    self.open("<h4", title);
                    self.line(title);
                    self.tag("</h4>\n");
                }
                // No level of headings is left out.
                let (start, end) = match (group.title, section.title) {
                    (None, _) => ("<h3 class=\"code\"><bdi>", "</bdi></h3>\n"),
                    (Some(_), None) => ("<h4 class=\"code\"><bdi>", "</bdi></h4>\n"),
                    (Some(_), Some(_)) => ("<h5 class=\"code\"><bdi>", "</bdi></h5>\n"),
                };
                section.items.iter().for_each(|item| self.entry(&view.entry(*item), (start, end)));
            }
        }
        self.tag("</section>\n");
    }

    /// The code, and beside it all else.
    fn entry(&mut self, entry: &OutlineEntry<'_>, (start, end): (&'static str, &'static str)) {
        self.tag("<article id=\"");
        self.escaped(&entry.anchor);
        self.tag("\">\n");
        self.tag(start);
        self.line(entry.code);
        self.tag(end);
        self.tag("<div>\n");
        if let Some(title) = entry.title {
            self.open("<p class=\"title\"", title);
            self.line(title);
            self.tag("</p>\n");
        }
        self.prose(entry.text.unwrap_or_default());
        if !entry.facts.is_empty() {
            self.tag("<p class=\"note\">");
            for ((label, fact), index) in entry.facts.iter().zip(0..) {
                if index > 0 {
                    self.tag(" · ");
                }
                self.note_label(*label);
                self.fact(fact);
            }
            self.tag("</p>\n");
        }
        for (label, remark) in &entry.remarks {
            self.tag("<p class=\"note\">");
            self.note_label(*label);
            self.value(remark);
            self.tag("</p>\n");
        }
        self.criteria(&entry.criteria);
        self.sources(&entry.sources);
        self.tag("</div>\n</article>\n");
    }

    fn note_label(&mut self, label: Label) {
        self.tag("<b>");
        self.label(label);
        self.tag(":</b> ");
    }

    fn sources(&mut self, sources: &[OutlineSource<'_>]) {
        if sources.is_empty() {
            return;
        }
        let (open, close) = self.words.quotation_marks();
        self.tag("<p class=\"note\">");
        self.note_label(Label::Sources);
        for (source, index) in sources.iter().zip(0..) {
            if index > 0 {
                self.tag("; ");
            }
            for (part, index) in source.place.iter().zip(0..) {
                if index > 0 {
                    self.tag(self.words.comma());
                }
                self.tag("<bdi>");
                self.line(part);
                self.tag("</bdi>");
            }
            if let Some(quote) = source.quote {
                self.tag(": <bdi>");
                self.out.push(open);
                self.line(quote);
                self.out.push(close);
                self.tag("</bdi>");
            }
        }
        self.tag("</p>\n");
    }

    fn criteria(&mut self, criteria: &[OutlineCriterion<'_>]) {
        if criteria.is_empty() {
            return;
        }
        self.tag("<p class=\"note\"><b>");
        self.label(Label::AcceptanceCriteria);
        self.tag("</b></p>\n<ul class=\"criteria\">\n");
        for criterion in criteria {
            self.tag("<li><bdi class=\"code\">");
            self.line(criterion.code);
            self.tag("</bdi>");
            self.open(" <bdi class=\"text\"", criterion.text);
            self.text(criterion.text);
            self.tag("</bdi>");
            if !criterion.steps.is_empty() {
                self.tag("\n<dl>\n");
                for (label, step) in &criterion.steps {
                    self.tag("<dt>");
                    self.label(*label);
                    self.tag("</dt><dd>");
                    self.value(step);
                    self.tag("</dd>\n");
                }
                self.tag("</dl>");
            }
            self.tag("</li>\n");
        }
        self.tag("</ul>\n");
    }

    fn fact(&mut self, fact: &OutlineFact<'_>) {
        match fact {
            OutlineFact::Text(text) => self.value(text),
            OutlineFact::Codes(codes) => {
                for ((code, anchor), index) in codes.iter().zip(0..) {
                    if index > 0 {
                        self.tag(self.words.comma());
                    }
                    self.tag("<a href=\"#");
                    self.escaped(anchor);
                    self.tag("\"><bdi class=\"code\">");
                    self.line(code);
                    self.tag("</bdi></a>");
                }
            }
        }
    }

    fn value(&mut self, text: &str) {
        self.open("<bdi class=\"text\"", text);
        self.text(text);
        self.tag("</bdi>");
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
