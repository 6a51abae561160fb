//! Markdown (CommonMark with the tables and links of GitHub's), with anchors of its own: renderers disagree on those of headings.

mod escaping;

use std::fmt::Write as _;

use self::escaping::{block, inline};
use crate::fault::ExportFault;
use crate::outline::{OutlineEntry, OutlineFact, OutlineSection, head, sections, source_line, summary_lists};
use crate::references::RequirementCodes;
use crate::specification::{CriterionEntry, Specification};
use crate::words::{Label, Words};

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    let words = Words::of(&specification.project.language);
    let codes = RequirementCodes::of(specification);
    let mut file = MarkdownFile { words, out: String::new() };
    file.specification(specification, &codes)
        .map_err(|_| ExportFault("The Markdown could not be written.".to_owned()))?;
    Ok(file.out.into_bytes())
}

struct MarkdownFile {
    words: Words,
    out: String,
}

impl MarkdownFile {
    fn specification(&mut self, specification: &Specification, codes: &RequirementCodes<'_>) -> std::fmt::Result {
        let words = self.words;
        writeln!(self.out, "# {}\n", inline(&specification.project.name))?;
        writeln!(self.out, "{}\n", words.label(Label::Specification))?;
        for (label, value) in head(specification) {
            writeln!(self.out, "- **{}:** {}", words.label(label), inline(value))?;
        }
        self.prose(&specification.project.description)?;
        self.contents(specification, codes)?;
        self.summary(specification)?;
        for section in sections(specification, words, codes) {
            self.heading(section.label, section.anchor)?;
            for entry in section.entries {
                self.entry(&entry)?;
            }
        }
        Ok(())
    }

    fn contents(&mut self, specification: &Specification, codes: &RequirementCodes<'_>) -> std::fmt::Result {
        let words = self.words;
        writeln!(self.out, "\n## {}\n", words.label(Label::Contents))?;
        if has_summary(specification) {
            writeln!(self.out, "- [{}](#summary)", words.label(Label::Summary))?;
        }
        for OutlineSection { label, anchor, entries } in sections(specification, words, codes) {
            writeln!(self.out, "- [{}](#{anchor})", words.label(label))?;
            for entry in entries {
                writeln!(self.out, "  - [{} {}](#{})", inline(entry.code), inline(entry.title), entry.anchor)?;
            }
        }
        Ok(())
    }

    fn summary(&mut self, specification: &Specification) -> std::fmt::Result {
        if !has_summary(specification) {
            return Ok(());
        }
        self.heading(Label::Summary, "summary")?;
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
        writeln!(self.out, "\n<a id=\"{}\"></a>\n", entry.anchor)?;
        writeln!(self.out, "### {} {}", inline(entry.code), inline(entry.title))?;
        if let Some(text) = entry.text {
            self.prose(text)?;
        }
        if !entry.facts.is_empty() {
            self.out.push('\n');
        }
        for (label, fact) in &entry.facts {
            let label = words.label(*label);
            match fact {
                OutlineFact::Text(text) => writeln!(self.out, "- **{label}:** {}", inline(text))?,
                OutlineFact::Codes(codes) => {
                    let links: Vec<String> = codes.iter().map(|(code, anchor)| link(code, anchor.as_deref())).collect();
                    writeln!(self.out, "- **{label}:** {}", links.join(", "))?;
                }
                OutlineFact::Lines(lines) => {
                    writeln!(self.out, "- **{label}:**")?;
                    for line in lines {
                        writeln!(self.out, "  - {}", inline(line))?;
                    }
                }
            }
        }
        self.criteria(entry.criteria)?;
        if !entry.sources.is_empty() {
            writeln!(self.out, "\n**{}**\n", words.label(Label::Sources))?;
        }
        for source in entry.sources {
            write!(self.out, "- {}", inline(&source_line(words, source)))?;
            match inline(&source.quote).as_str() {
                "" => self.out.push('\n'),
                quote => writeln!(self.out, ": “{quote}”")?,
            }
        }
        Ok(())
    }

    fn criteria(&mut self, criteria: &[CriterionEntry]) -> std::fmt::Result {
        let words = self.words;
        if !criteria.is_empty() {
            writeln!(self.out, "\n**{}**\n", words.label(Label::AcceptanceCriteria))?;
        }
        for criterion in criteria {
            writeln!(self.out, "- **{}** {}", inline(&criterion.code), inline(&criterion.text))?;
            let steps =
                [(Label::Given, &criterion.given), (Label::When, &criterion.when), (Label::Then, &criterion.then)];
            for (label, step) in steps {
                if let Some(step) = step {
                    writeln!(self.out, "  - **{}** {}", words.label(label), inline(step))?;
                }
            }
        }
        Ok(())
    }

    fn heading(&mut self, label: Label, anchor: &str) -> std::fmt::Result {
        writeln!(self.out, "\n<a id=\"{anchor}\"></a>\n\n## {}", self.words.label(label))
    }

    fn prose(&mut self, text: &str) -> std::fmt::Result {
        let text = block(text);
        if text.is_empty() { Ok(()) } else { writeln!(self.out, "\n{text}") }
    }
}

pub(crate) fn has_summary(specification: &Specification) -> bool {
    !specification.summary.text.trim().is_empty() || summary_lists(specification).next().is_some()
}

fn link(code: &str, anchor: Option<&str>) -> String {
    match anchor {
        Some(anchor) => format!("[{}](#{anchor})", inline(code)),
        None => inline(code),
    }
}
