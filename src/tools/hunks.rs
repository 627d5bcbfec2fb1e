//! A change of which the user wants only some places: puts the text together from the old and the new
//! one, place by place, and says for the model what became of the others.

use std::time::{Duration, Instant};

use similar::TextDiff;

use crate::kernel::command::HunkChoice;

use super::diff::CONTEXT;

/// The same limit as the preview's.
const DEADLINE: Duration = Duration::from_millis(200);

/// The text after the choices, and a line for the model about each place that is not as it wanted.
/// Places are those of the preview of the same two texts.
pub fn choose(old: &str, new: &str, choices: &[HunkChoice]) -> (String, Vec<String>) {
    let deadline = Instant::now() + DEADLINE;
    let diff = TextDiff::configure().deadline(deadline).diff_lines(old, new);
    let old_lines = |from: usize, to: usize| -> String {
        (from..to).filter_map(|at| diff.old_slice(at)).collect()
    };
    let new_lines = |from: usize, to: usize| -> String {
        (from..to).filter_map(|at| diff.new_slice(at)).collect()
    };
    let (mut out, mut notes, mut done) = (String::new(), Vec::new(), 0);
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (before, after) = (first.old_range().start, last.old_range().end);
        out.push_str(&old_lines(done, before));
        done = after;
        let place = first.new_range().start + 1;
        match choices.get(index).unwrap_or(&HunkChoice::Keep) {
            HunkChoice::Keep => {
                out.push_str(&new_lines(first.new_range().start, last.new_range().end));
            }
            HunkChoice::Reject => {
                out.push_str(&old_lines(before, after));
                notes.push(format!(
                    "The user rejected the change at line {place}: it was left as it was."
                ));
            }
            HunkChoice::Edit(text) => {
                let ends = old.contains("\r\n") && !text.contains("\r\n");
                let text = if ends { text.replace('\n', "\r\n") } else { text.clone() };
                out.push_str(&text);
                let is_last = diff.old_slice(after).is_none();
                let wants_end = !is_last || old.ends_with('\n') || old.is_empty();
                if wants_end && !text.is_empty() && !text.ends_with('\n') {
                    out.push_str(if ends { "\r\n" } else { "\n" });
                }
                notes.push(format!(
                    "The user wrote the change at line {place} themselves; read the file before \
                     you build on it."
                ));
            }
        }
    }
    out.push_str(&old_lines(done, old.len()));
    (out, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::command::HunkChoice::{Edit, Keep, Reject};

    fn texts() -> (String, String) {
        let lines: Vec<String> = (1..=30).map(|n| format!("line {n}\n")).collect();
        let old = lines.concat();
        let new = old.replace("line 2\n", "LINE 2\n").replace("line 28\n", "LINE 28\nmore\n");
        (old, new)
    }

    #[test]
    fn each_place_is_kept_rejected_or_rewritten() {
        let (old, new) = texts();
        assert_eq!(choose(&old, &new, &[]).0, new);
        assert_eq!(choose(&old, &new, &[Keep, Keep]).0, new);
        let (text, notes) = choose(&old, &new, &[Reject, Reject]);
        assert_eq!((text, notes.len()), (old.clone(), 2));
        let (text, notes) = choose(&old, &new, &[Reject, Keep]);
        assert_eq!(text, old.replace("line 28\n", "LINE 28\nmore\n"));
        assert!(notes[0].contains("rejected the change at line 1"), "{notes:?}");
        let (text, notes) = choose(&old, &new, &[Edit("mine".to_owned()), Reject]);
        assert!(text.starts_with("mine\nline 6\n") && text.ends_with("line 30\n"), "{text}");
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn line_ends_and_a_missing_final_newline_stay() {
        let (text, _) = choose("a\r\nb\r\n", "x\r\nb\r\n", &[Edit("y\nb".to_owned())]);
        assert_eq!(text, "y\r\nb\r\n");
        let (text, _) = choose("a", "b", &[Edit("c".to_owned())]);
        assert_eq!(text, "c");
        let (text, _) = choose("", "b\n", &[Reject]);
        assert_eq!(text, "");
    }
}
