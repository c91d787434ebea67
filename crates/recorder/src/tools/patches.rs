//! What an edit changed, as a patch: taken from where a client says it, or made of what it says.

use std::fmt::Write;

use serde_json::Value;

/// What the patches of one kind of client begin with.
const BEGIN: &str = "*** Begin Patch";

/// The lines by which such a patch names files.
const FILES: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Keys of a tool's arguments that may hold a patch.
const GIVEN: [&str; 6] = ["patch", "input", "patchText", "diff", "command", "cmd"];

/// A patch among the arguments of a tool.
pub(crate) fn given(input: &Value) -> Option<&str> {
    let texts = GIVEN.iter().filter_map(|key| match &input[key] {
        Value::String(text) => Some(text.as_str()),
        Value::Array(words) => words.last().and_then(Value::as_str),
        _ => None,
    });
    let mut texts = texts.chain(input.as_str());
    texts.find_map(|text| text.find(BEGIN).map(|at| &text[at..]))
}

/// The files that such a patch names, in order.
pub(crate) fn files(patch: &str) -> Vec<String> {
    let named =
        |line: &str| FILES.iter().find_map(|mark| line.strip_prefix(mark).map(|name| name.trim().to_owned()));
    patch.lines().filter_map(named).collect()
}

/// The patch that a client tells after an edit.
pub(crate) fn told(response: &Value) -> Option<String> {
    let path =
        ["filePath", "file_path", "path"].iter().find_map(|key| response[key].as_str()).unwrap_or_default();
    if let Some(hunks) = response["structuredPatch"].as_array().filter(|hunks| !hunks.is_empty()) {
        return Some(unified(path, hunks));
    }
    if let (Some("create"), Some(content)) = (response["type"].as_str(), response["content"].as_str()) {
        return Some(created(path, content));
    }
    let places = [&response["metadata"]["diff"], &response["returnDisplay"]["fileDiff"], &response["diff"]];
    places.into_iter().find_map(|place| place.as_str()).filter(|diff| !diff.is_empty()).map(str::to_owned)
}

fn unified(path: &str, hunks: &[Value]) -> String {
    let mut text = format!("--- {path}\n+++ {path}\n");
    let number = |hunk: &Value, key: &str| hunk[key].as_u64().unwrap_or_default();
    for hunk in hunks {
        let place = ["oldStart", "oldLines", "newStart", "newLines"].map(|key| number(hunk, key));
        // Writing to a text does not fail.
        let _ = writeln!(text, "@@ -{},{} +{},{} @@", place[0], place[1], place[2], place[3]);
        for line in hunk["lines"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn created(path: &str, content: &str) -> String {
    let mut text = format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1,{} @@\n", content.lines().count());
    for line in content.lines() {
        text.push('+');
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hunks_become_a_unified_patch() {
        let hunk = json!({"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
                          "lines": [" def add(a, b):", "-    return a - b", "+    return a + b"]});
        let response = json!({"filePath": "/w/calc.py", "structuredPatch": [hunk]});
        let expected = "--- /w/calc.py\n+++ /w/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n";
        assert_eq!(told(&response).as_deref(), Some(expected));
    }

    #[test]
    fn a_new_file_is_all_added() {
        let response =
            json!({"type": "create", "filePath": "/w/a", "content": "x\ny\n", "structuredPatch": []});
        assert_eq!(told(&response).as_deref(), Some("--- /dev/null\n+++ /w/a\n@@ -0,0 +1,2 @@\n+x\n+y\n"));
    }

    #[test]
    fn a_diff_is_taken_where_clients_put_it() {
        assert_eq!(told(&json!({"metadata": {"diff": "d"}})).as_deref(), Some("d"));
        assert_eq!(told(&json!({"returnDisplay": {"fileDiff": "d"}})).as_deref(), Some("d"));
        assert_eq!(told(&json!({"returnDisplay": "text"})), None);
        assert_eq!(told(&json!("text")), None);
    }

    #[test]
    fn a_given_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b/c.py\n+z\n*** Delete File: d\n*** End Patch";
        let input = json!({"command": format!("apply_patch <<'EOF'\n{patch}")});
        assert_eq!(given(&input), Some(patch));
        assert_eq!(files(patch), ["a.py", "b/c.py", "d"]);
        assert_eq!(given(&json!({"command": ["apply_patch", patch]})), Some(patch));
        assert_eq!(given(&json!({"command": "ls"})), None);
    }
}
