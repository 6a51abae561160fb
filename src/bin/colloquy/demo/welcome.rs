//! Prints how to continue by hand with the demo's server.

use super::page::{Screen, accent, dim, plain};
use super::steps::Scene;

/// Prints a link that opens the console, the login, the URL of the API's documentation, and a token to paste.
///
/// # Errors
/// Returns a message if no link can be made.
pub async fn print(page: &Screen, scene: &Scene) -> Result<(), String> {
    let Scene { server, account, session, project } = scene;
    let return_url = format!("/projects/{}", project.id);
    let link = server.admin(&["login-link", "--email", &account.email, "--return-url", &return_url]).await?;
    page.heading("Continue by hand", "the server runs until Ctrl-C");
    page.line("");
    page.text(2, "Open the project in the console; the link signs in once, within ten minutes:", &plain());
    // In one line, whatever its length, so that it can be copied.
    page.line(&link);
    page.line("");
    let row = |label: &str, text: &str| page.labelled(label, &accent(), 14, text, &plain());
    row("E-mail", &account.email);
    row("Password", &account.password);
    row("Console", &format!("{}{return_url}", server.url));
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
    page.line(&session.access_token);
    page.line("");
    page.line("  In another terminal:");
    let path = format!("/api/projects/{}/ai/results-dashboard", project.id);
    page.line(&format!("  curl -H \"Authorization: Bearer $TOKEN\" \\\n    {}{path}", server.url));
    page.line("");
    Ok(())
}
