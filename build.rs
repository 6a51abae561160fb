//! Tells the OpenAPI derives, once, what an `Id` and a `Time` are in the interface.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    utoipa_config::Config::new()
        .alias_for("Id", "uuid::Uuid")
        .alias_for("Time", "chrono::DateTime<chrono::Utc>")
        .alias_for("LocalTime", "chrono::DateTime<chrono::Utc>")
        .write_to_file();
}
