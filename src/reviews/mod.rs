//! What people make of a run's results: approvals, feedback of stakeholders, baselines, the trace matrix, search, and exports.

pub mod approvals;
pub mod baselines;
pub mod deletion;
pub mod state;
pub mod trace;
