//! Progress of a run: a bar on a terminal, one line for each node otherwise.

use std::collections::HashSet;

use api_client::answer::RunAnswer;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::page::Screen;

pub struct Progress<'a> {
    page: &'a Screen,
    /// `None` if the output is no terminal.
    bar: Option<ProgressBar>,
    seen: HashSet<String>,
}

impl<'a> Progress<'a> {
    pub fn begin(page: &'a Screen) -> Self {
        let bar = Term::stdout().is_term().then(|| {
            let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stdout());
            let style = ProgressStyle::with_template("  {msg:26!} {bar:40.cyan/dim} {pos:>3} %");
            if let Ok(style) = style {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar
        });
        Self { page, bar, seen: HashSet::new() }
    }

    pub fn show(&mut self, run: &RunAnswer) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(run.current_node_label.clone());
                bar.set_position(run.progress);
            }
            None if self.seen.insert(run.current_node_label.clone()) => {
                self.page.line(&format!("  {:>3} %  {}", run.progress, run.current_node_label));
            }
            None => {}
        }
    }

    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.abandon();
        }
    }
}
