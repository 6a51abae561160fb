//! What people make of a run's results: approvals, feedback of stakeholders, baselines, the trace matrix, and search.

pub mod access;
pub mod approvals;
pub mod baselines;
pub mod deletion;
pub mod feedback;
pub mod invitations;
pub mod known_reviewers;
pub mod search;
pub mod stakeholder_dashboard;
pub mod state;
pub mod trace;
