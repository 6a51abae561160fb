//! Where Jira Cloud and Jira Data Center differ: the one place that tells them apart.

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{IssueBlock, IssueDraft, IssueRefusal, TrackerLogin};
use super::fingerprint::fingerprint;
use super::{adf, text, wiki};

/// The longest description: in characters of the serialised document, or of the markup.
const DESCRIPTION: usize = 32_767;
/// The issues of one page of a search, and the most that `reconcileIssues` takes.
pub(super) const SEARCH_PAGE: usize = 50;

/// The kind of a Jira.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JiraDialect {
    /// Version 3 of the interface: documents, accounts, pages by token.
    Cloud,
    /// Version 2: markup, user keys, pages by offset.
    DataCenter,
}

/// A search for issues.
pub(super) struct JiraSearch {
    pub jql: String,
    pub fields: &'static [&'static str],
    pub property: Option<&'static str>,
    /// Ids of issues that are to be read from the database, not from the index.
    pub reconcile: Vec<u64>,
}

/// Where the next page of a search begins.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SearchCursor {
    pub seen: usize,
    pub token: Option<String>,
}

/// A page of issues.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SearchPage {
    #[serde(default)]
    pub issues: Vec<Value>,
    pub next_page_token: Option<String>,
    pub is_last: Option<bool>,
    pub total: Option<usize>,
}

/// What an account says about itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MyselfAnswer {
    account_id: Option<String>,
    key: Option<String>,
    name: Option<String>,
    pub display_name: Option<String>,
}

/// The summary and the description of an issue.
#[derive(Debug, PartialEq)]
pub(super) struct RenderedIssue {
    pub summary: String,
    pub description: Value,
}

impl RenderedIssue {
    pub(super) fn fingerprint(&self) -> String {
        fingerprint(&self.summary, &self.description)
    }
}

impl JiraDialect {
    pub(super) const fn of(login: &TrackerLogin) -> Self {
        match login {
            TrackerLogin::OAuth { .. } | TrackerLogin::Token { email: Some(_), .. } => Self::Cloud,
            TrackerLogin::Token { email: None, .. } => Self::DataCenter,
        }
    }

    pub(super) const fn version(self) -> u8 {
        match self {
            Self::Cloud => 3,
            Self::DataCenter => 2,
        }
    }

    /// Renders a draft, without its last quotes where it would be too long.
    pub(super) fn render(self, draft: &IssueDraft) -> Result<RenderedIssue, IssueRefusal> {
        let summary = text::summary(&draft.title);
        if summary.is_empty() {
            return Err(IssueRefusal { code: "FieldRejected", message: "Summary: The title is empty.".to_owned() });
        }
        let blocks = text::with_title(&draft.title, &draft.blocks);
        let blocks = text::fitting(blocks, DESCRIPTION, |blocks| self.size(&self.description(blocks)))?;
        Ok(RenderedIssue { summary, description: self.description(&blocks) })
    }

    fn description(self, blocks: &[IssueBlock]) -> Value {
        match self {
            Self::Cloud => adf::document(blocks),
            Self::DataCenter => Value::from(wiki::markup(blocks)),
        }
    }

    fn size(self, description: &Value) -> usize {
        match description {
            Value::String(markup) => text::length(markup),
            document => text::length(&document.to_string()),
        }
    }

    /// A text of several lines for another field than the description. Its author wrote it for Jira, so that on a Data Center it
    /// may contain markup.
    pub(super) fn long_text(self, text: &str) -> Value {
        match self {
            Self::Cloud => adf::text_document(text),
            Self::DataCenter => Value::from(text::clean(text)),
        }
    }

    /// Whether a user is named by an id, as other values of a field with a list are.
    pub(super) const fn has_user_ids(self) -> bool {
        matches!(self, Self::Cloud)
    }

    pub(super) fn account_id(self, myself: &MyselfAnswer) -> Option<String> {
        match self {
            Self::Cloud => myself.account_id.clone(),
            Self::DataCenter => myself.key.clone().or_else(|| myself.name.clone()),
        }
    }

    /// Whether projects are searched by Jira. If not, it returns all of them at once.
    pub(super) const fn searches_projects(self) -> bool {
        matches!(self, Self::Cloud)
    }

    /// Whether a search can return a property of issues. If not, it is read issue by issue.
    pub(super) const fn searches_properties(self) -> bool {
        matches!(self, Self::Cloud)
    }

    /// The method, path and body of the call for a page of a search.
    pub(super) fn search(self, search: &JiraSearch, cursor: &SearchCursor) -> (Method, &'static str, Value) {
        let mut body = json!({ "jql": search.jql, "fields": search.fields, "maxResults": SEARCH_PAGE });
        let mut set =
            |key: &str, value: Value| drop(body.as_object_mut().map(|body| body.insert(key.to_owned(), value)));
        match self {
            Self::Cloud => {
                if let Some(property) = search.property {
                    set("properties", json!([property]));
                }
                if !search.reconcile.is_empty() {
                    set("reconcileIssues", json!(search.reconcile));
                }
                if let Some(token) = &cursor.token {
                    set("nextPageToken", json!(token));
                }
                (Method::POST, "/search/jql", body)
            }
            Self::DataCenter => {
                set("startAt", json!(cursor.seen));
                // An id of a deleted issue is then ignored.
                set("validateQuery", json!(false));
                (Method::POST, "/search", body)
            }
        }
    }

    /// Where the page after this one begins. `None` after the last.
    pub(super) fn next(self, cursor: &SearchCursor, page: &SearchPage) -> Option<SearchCursor> {
        let seen = cursor.seen + page.issues.len();
        match self {
            Self::Cloud => {
                let token = page.next_page_token.clone().filter(|_| page.is_last != Some(true))?;
                Some(SearchCursor { seen, token: Some(token) })
            }
            Self::DataCenter => {
                let is_more = !page.issues.is_empty() && page.total.is_some_and(|total| seen < total);
                is_more.then_some(SearchCursor { seen, token: None })
            }
        }
    }
}
