//! Writing the draft in the user's editor. The caller has given the terminal back before.

use std::io::Write;
use std::process::Stdio;

/// Lets the user edit `text` with `editor` (a shell command line that takes a file) and returns
/// the new text, or a line that says why it did not work.
pub async fn edit(editor: &str, text: &str) -> Result<String, String> {
    let mut file = tempfile::Builder::new()
        .prefix("codebot-")
        .suffix(".md")
        .tempfile()
        .map_err(|error| format!("cannot make a file for the editor: {error}"))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.flush())
        .map_err(|error| format!("cannot write the file for the editor: {error}"))?;
    let path = file.into_temp_path();
    let status = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(&path)
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .status()
        .await
        .map_err(|error| format!("cannot start the editor {editor}: {error}"))?;
    if !status.success() {
        return Err(format!("the editor {editor} ended with {status}; the draft is unchanged"));
    }
    let text = tokio::fs::read_to_string(&path)
        .await
        .map_err(|error| format!("cannot read what the editor saved: {error}"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}
