//! Markdown (CommonMark with the tables and links of GitHub's), with anchors of its own: renderers disagree on those of headings.

mod escaping;

use std::fmt::Write as _;

use self::escaping::{block, inline};
use crate::fault::ExportFault;
use crate::outline::{
    EntryView, OutlineChapter, OutlineCriterion, OutlineEntry, OutlineFact, OutlineSource, chapters, cover,
    has_summary, summary_lists,
};
use crate::references::RequirementCodes;
use crate::specification::Specification;
use crate::words::{Label, Words};

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    let words = Words::of(&specification.project.language);
    let mut file = MarkdownFile { words, out: String::new() };
    file.specification(specification).map_err(|_| ExportFault("The Markdown could not be written.".to_owned()))?;
    Ok(file.out.into_bytes())
}

struct MarkdownFile {
    words: Words,
    out: String,
}

impl MarkdownFile {
    fn specification(&mut self, specification: &Specification) -> std::fmt::Result {
        let words = self.words;
        writeln!(self.out, "# {}\n", inline(&specification.project.name))?;
        writeln!(self.out, "{}\n", words.label(Label::Specification))?;
        for (label, value) in cover(specification, words) {
            writeln!(self.out, "- **{}:** {}", words.label(label), inline(&value))?;
        }
        self.prose(&specification.project.description)?;
        let chapters = chapters(specification, words);
        self.contents(specification, &chapters)?;
        self.summary(specification)?;
        let codes = RequirementCodes::of(specification);
        let mut view = EntryView::new(specification, words, &codes);
        for chapter in &chapters {
            self.heading(words.label(chapter.label), chapter.anchor, "##")?;
            for group in &chapter.groups {
                if let Some(title) = group.title {
                    self.heading(title, &group.anchor, "###")?;
                }
                for section in &group.sections {
                    if let Some(title) = section.title {
                        writeln!(self.out, "\n#### {}", inline(title))?;
                    }
                    section.items.iter().try_for_each(|item| self.entry(&view.entry(*item)))?;
                }
            }
        }
        Ok(())
    }

    fn contents(&mut self, specification: &Specification, chapters: &[OutlineChapter<'_>]) -> std::fmt::Result {
        let words = self.words;
        let has_summary = has_summary(specification);
        if !has_summary && chapters.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n## {}\n", words.label(Label::Contents))?;
        if has_summary {
            writeln!(self.out, "- [{}](#summary)", words.label(Label::Summary))?;
        }
        for OutlineChapter { label, anchor, groups } in chapters {
            writeln!(self.out, "- [{}](#{anchor})", words.label(*label))?;
            for (title, anchor) in groups.iter().filter_map(|group| Some((group.title?, &group.anchor))) {
                writeln!(self.out, "  - [{title}](#{anchor})")?;
            }
        }
        Ok(())
    }

    fn summary(&mut self, specification: &Specification) -> std::fmt::Result {
        if !has_summary(specification) {
            return Ok(());
        }
        self.heading(self.words.label(Label::Summary), "summary", "##")?;
        self.prose(&specification.summary.text)?;
        for (label, texts) in summary_lists(specification) {
            writeln!(self.out, "\n### {}\n", self.words.label(label))?;
            for text in texts {
                writeln!(self.out, "- {}", inline(text))?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &OutlineEntry<'_>) -> std::fmt::Result {
        let words = self.words;
        write!(self.out, "\n<a id=\"{}\"></a>**{}", entry.anchor, inline(entry.code))?;
        match entry.title {
            Some(title) => writeln!(self.out, " {}**", inline(title))?,
            None => self.out.push_str("**\n"),
        }
        self.prose(entry.text.unwrap_or_default())?;
        if !entry.facts.is_empty() {
            let facts = entry.facts.iter().map(|(label, fact)| {
                let value = match fact {
                    OutlineFact::Text(text) => inline(text),
                    OutlineFact::Codes(codes) => codes.iter().map(link).collect::<Vec<_>>().join(words.comma()),
                };
                format!("**{}:** {value}", words.label(*label))
            });
            writeln!(self.out, "\n{}", facts.collect::<Vec<_>>().join(" · "))?;
        }
        for (label, remark) in &entry.remarks {
            for line in remark.lines() {
                writeln!(self.out, "\n**{}:** {}", words.label(*label), inline(line))?;
            }
        }
        self.criteria(&entry.criteria)?;
        self.sources(&entry.sources)
    }

    fn sources(&mut self, sources: &[OutlineSource<'_>]) -> std::fmt::Result {
        if sources.is_empty() {
            return Ok(());
        }
        let (words, (open, close)) = (self.words, self.words.quotation_marks());
        let notes = sources.iter().map(|source| {
            let place = inline(&source.place.join(words.comma()));
            source.quote.map_or_else(|| place.clone(), |quote| format!("{place}: {open}{}{close}", inline(quote)))
        });
        writeln!(self.out, "\n**{}:** {}", words.label(Label::Sources), notes.collect::<Vec<_>>().join("; "))
    }

    fn criteria(&mut self, criteria: &[OutlineCriterion<'_>]) -> std::fmt::Result {
        let words = self.words;
        if !criteria.is_empty() {
            writeln!(self.out, "\n**{}**\n", words.label(Label::AcceptanceCriteria))?;
        }
        for criterion in criteria {
            writeln!(self.out, "- **{}** {}", inline(criterion.code), inline(criterion.text))?;
            for (label, step) in &criterion.steps {
                writeln!(self.out, "  - **{}** {}", words.label(*label), inline(step))?;
            }
        }
        Ok(())
    }

    fn heading(&mut self, title: &str, anchor: &str, level: &str) -> std::fmt::Result {
        writeln!(self.out, "\n<a id=\"{anchor}\"></a>\n\n{level} {title}")
    }

    fn prose(&mut self, text: &str) -> std::fmt::Result {
        let text = block(text);
        if text.is_empty() { Ok(()) } else { writeln!(self.out, "\n{text}") }
    }
}

fn link((code, anchor): &(&str, String)) -> String {
    format!("[{}](#{anchor})", inline(code))
}
