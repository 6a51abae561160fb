//! Prints how to continue by hand with the demo's server.

use super::page::{Screen, accent, dim, plain};
use super::steps::Scene;

/// Prints the login, the URLs of the console and of the API's documentation, and a token to paste.
pub fn print(page: &Screen, scene: &Scene) {
    let Scene { server, account, session, project } = scene;
    page.heading("Continue by hand", "the server runs until Ctrl-C");
    page.line("");
    let row = |label: &str, text: &str| page.labelled(label, &accent(), 14, text, &plain());
    row("E-mail", &account.email);
    row("Password", &account.password);
    row("Console", &format!("{}/?project={}", server.url, project.id));
    row("API", &format!("{}/docs", server.url));
    page.text(
        14,
        &format!(
            "Press “Authorize” and paste the token below. It is valid for {} minutes; POST /api/auth/login with the \
             e-mail and the password returns a new one.",
            session.expires_in / 60
        ),
        &dim(),
    );
    row("Project", &project.id);
    row("Metrics", &format!("{}/metrics", server.internal_url));
    page.line("");
    page.line("  Token (one line):");
    // In one line, whatever its length, so that it can be copied.
    page.line(&session.access_token);
    page.line("");
    page.line("  In another terminal:");
    let path = format!("/api/projects/{}/ai/results-dashboard", project.id);
    page.line(&format!("  curl -H \"Authorization: Bearer $TOKEN\" \\\n    {}{path}", server.url));
    page.line("");
}
