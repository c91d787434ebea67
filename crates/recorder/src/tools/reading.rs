//! What a client says of a tool call, as an event. The clients' words differ less than their names: keys decide, not
//! clients.

use serde_json::{Map, Value, json};

use crate::tools::patches;

/// The longest text that is handed on: far more than is kept, so that what is cut here is never seen.
const LONGEST_TEXT: usize = 256 << 10;

/// Tools that read a file, and tools that write one; letter case, `-` and `_` make no difference.
const READERS: [&str; 8] =
    ["read", "readfile", "readmanyfiles", "view", "viewfile", "viewimage", "notebookread", "cat"];
const WRITERS: [&str; 15] = [
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "replace",
    "writefile",
    "editfile",
    "createfile",
    "strreplace",
    "applypatch",
    "patch",
    "create",
    "strreplaceeditor",
    "strreplacebasededittool",
    "insert",
];
const SHELLS: [&str; 9] = [
    "bash",
    "shell",
    "runshellcommand",
    "execcommand",
    "localshell",
    "runterminalcommand",
    "powershell",
    "terminal",
    "execute",
];
const PATHS: [&str; 6] = ["file_path", "filePath", "path", "notebook_path", "absolute_path", "filename"];
const PATH_LISTS: [&str; 3] = ["paths", "include", "file_paths"];
const SESSIONS: [&str; 3] = ["session_id", "sessionId", "conversation_id"];
const CALLS: [&str; 4] = ["tool_use_id", "tool_call_id", "call_id", "callID"];
const CODES: [&str; 4] = ["exit_code", "exitCode", "exit", "returnCode"];
/// What a client tells of a command below its output: the exit code is among it if it is not 0.
const BELOW: [&str; 3] = ["Process Group PGID:", "Background PIDs:", "</untrusted_context>"];

/// What an event is given besides a client's words.
pub(crate) struct Surroundings {
    pub(crate) id: String,
    /// Nanoseconds since 1970.
    pub(crate) at: i64,
    pub(crate) client: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) run: Option<String>,
}

/// The event of a hook's JSON.
pub(crate) fn read(hook: &Value, around: &Surroundings) -> Map<String, Value> {
    let name = text(hook, &["hook_event_name", "hookEventName"]).unwrap_or_default();
    let tool = text(hook, &["tool_name", "toolName"]);
    let event = match name {
        "PreToolUse" | "BeforeTool" => "start",
        "PostToolUse" | "PostToolUseFailure" | "AfterTool" => "end",
        _ => "note",
    };
    let mut said = begin(event, around);
    said.insert("hook".to_owned(), json!(name));
    put(&mut said, "call_id", text(hook, &CALLS));
    put(&mut said, "tool", tool);
    put(&mut said, "cwd", text(hook, &["cwd"]));
    put(&mut said, "native_session", text(hook, &SESSIONS));
    put(&mut said, "native_thread", text(hook, &["agent_id", "thread_id"]));
    put(&mut said, "turn", text(hook, &["turn_id", "prompt_id"]));
    put(&mut said, "transcript", text(hook, &["transcript_path"]));
    let input = &hook["tool_input"];
    describe(&mut said, &plain(tool.unwrap_or_default()), input);
    if event == "end" {
        let response = opened(&hook["tool_response"]);
        conclude(&mut said, hook, &plain(tool.unwrap_or_default()), input, &response);
    }
    said
}

/// The event of something that is no hook's JSON.
pub(crate) fn unreadable(bytes: u64, why: &str, around: &Surroundings) -> Map<String, Value> {
    let mut said = begin("unreadable", around);
    said.insert("bytes".to_owned(), json!(bytes));
    put(&mut said, "error", Some(why));
    said
}

fn begin(event: &str, around: &Surroundings) -> Map<String, Value> {
    let mut said = Map::new();
    said.insert("id".to_owned(), json!(around.id));
    said.insert("event".to_owned(), json!(event));
    said.insert("at".to_owned(), json!(around.at));
    let ids = [
        ("client", &around.client),
        ("session", &around.session),
        ("task", &around.task),
        ("run", &around.run),
    ];
    for (key, value) in ids {
        put(&mut said, key, value.as_deref());
    }
    said
}

/// What the arguments say: the command, the files, the patch.
fn describe(said: &mut Map<String, Value>, tool: &str, input: &Value) {
    if input.is_null() {
        return;
    }
    let patch = patches::given(input);
    let command = match &input["command"] {
        Value::Null => joined(&input["cmd"]),
        command => joined(command),
    };
    if patch.is_none() {
        put(said, "command", command.as_deref());
    }
    let mut writes: Vec<String> = patch.map(patches::files).unwrap_or_default();
    let mut reads = Vec::new();
    let list = match tool {
        _ if WRITERS.contains(&tool) => Some(&mut writes),
        _ if READERS.contains(&tool) => Some(&mut reads),
        _ => None,
    };
    if let Some(list) = list {
        list.extend(PATHS.iter().filter_map(|key| input[key].as_str()).take(1).map(str::to_owned));
        let several = PATH_LISTS.iter().filter_map(|key| input[key].as_array()).flatten();
        list.extend(several.filter_map(Value::as_str).map(str::to_owned));
    }
    put_list(said, "reads", reads);
    put_list(said, "writes", writes);
    put(said, "patch", patch);
    said.insert("input".to_owned(), shortened(input));
}

/// What came of it: exit code, duration, patch, error, output.
fn conclude(said: &mut Map<String, Value>, hook: &Value, tool: &str, input: &Value, response: &Value) {
    let output = output(response);
    let error = text(hook, &["error"])
        .or_else(|| text(response, &["error"]))
        .or_else(|| text(&response["error"], &["message"]));
    let failed = hook["hook_event_name"] == "PostToolUseFailure"
        || error.is_some()
        || [&response["is_error"], &response["isError"], &hook["is_error"]].iter().any(|flag| **flag == true);
    let runs_on = input["run_in_background"] == true || input["is_background"] == true;
    let is_shell = SHELLS.contains(&tool) && !runs_on;
    // A client with a hook of its own for failures tells by the other that there was none.
    let is_well = !failed && hook["hook_event_name"] == "PostToolUse" && response["stdout"].is_string();
    let shell_code = || {
        let below = response["llmContent"].as_str().and_then(code_below);
        error.and_then(code_above).or(below).or(is_well.then_some(0))
    };
    let code = code(response).or_else(|| is_shell.then(shell_code).flatten());
    if let Some(code) = code {
        said.insert("exit_code".to_owned(), json!(code));
    }
    let milliseconds = ["duration_ms", "durationMs"];
    let duration = milliseconds.iter().find_map(|key| hook[key].as_f64().or_else(|| response[key].as_f64()));
    if let Some(duration) = duration {
        said.insert("duration_ms".to_owned(), json!(duration));
    }
    // A client that hands on no more than a text does not say how it ended.
    if failed || code.is_some() || response.is_object() {
        said.insert("failed".to_owned(), json!(failed || code.is_some_and(|code| code != 0)));
    }
    if let Some(patch) = patches::told(response) {
        put(said, "patch", Some(&patch));
    }
    put(said, "error", error);
    put(said, "output", output.as_deref());
}

/// A client may hand its answer on as a text that is JSON.
fn opened(response: &Value) -> Value {
    let inner = response
        .as_str()
        .filter(|text| text.starts_with('{'))
        .and_then(|text| serde_json::from_str(text).ok());
    inner.unwrap_or_else(|| response.clone())
}

fn code(response: &Value) -> Option<i64> {
    let places = [response, &response["metadata"]];
    places.iter().find_map(|place| CODES.iter().find_map(|key| place[key].as_i64()))
}

/// The exit code that stands before all else.
fn code_above(text: &str) -> Option<i64> {
    let rest = text.strip_prefix("Exit code ").or_else(|| text.strip_prefix("Exit code: "))?;
    leading_number(rest)
}

/// The exit code that stands below the output of a command; it is 0 if none does, and no one's if a signal ended it.
fn code_below(text: &str) -> Option<i64> {
    let last = text.lines().rev().find(|line| !BELOW.iter().any(|mark| line.starts_with(mark)))?;
    if last.starts_with("Signal:") || last.starts_with("Error:") {
        return None;
    }
    last.strip_prefix("Exit Code: ").map_or(Some(0), leading_number)
}

fn leading_number(text: &str) -> Option<i64> {
    let digits = text.find(|sign: char| !sign.is_ascii_digit() && sign != '-').unwrap_or(text.len());
    text[..digits].parse().ok()
}

/// What a tool put out, in one text.
fn output(response: &Value) -> Option<String> {
    if let Some(text) = response.as_str() {
        return Some(text.to_owned());
    }
    if response["stdout"].is_string() || response["stderr"].is_string() {
        let both = ["stdout", "stderr"].map(|key| response[key].as_str().unwrap_or_default());
        return Some(both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"));
    }
    let one = ["output", "llmContent", "content"].iter().find_map(|key| response[key].as_str());
    one.map(str::to_owned).or_else(|| response["file"]["content"].as_str().map(str::to_owned))
}

fn joined(command: &Value) -> Option<String> {
    match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// A tool's name without what makes no difference.
fn plain(name: &str) -> String {
    name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| value[key].as_str()).filter(|text| !text.is_empty())
}

fn put(said: &mut Map<String, Value>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        said.insert(key.to_owned(), json!(cut(value, LONGEST_TEXT)));
    }
}

fn put_list(said: &mut Map<String, Value>, key: &str, mut list: Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    list.retain(|each| seen.insert(each.clone()));
    if !list.is_empty() {
        said.insert(key.to_owned(), json!(list));
    }
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(cut(text, LONGEST_TEXT)),
        Value::Array(list) => list.iter().map(shortened).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), shortened(value))).collect(),
        other => other.clone(),
    }
}

/// A text that is not too long; cut between words, since half a secret is not known for one.
pub(crate) fn cut(text: &str, longest: usize) -> &str {
    if text.len() <= longest {
        return text;
    }
    let mut end = longest;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    head.rfind(char::is_whitespace).map_or(head, |at| &head[..at])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn around() -> Surroundings {
        Surroundings {
            id: "01".to_owned(),
            at: 5,
            client: Some("claude".to_owned()),
            session: None,
            task: None,
            run: Some("run_1".to_owned()),
        }
    }

    fn event(hook: &Value) -> Value {
        Value::Object(read(hook, &around()))
    }

    fn hook(name: &str, tool: &str, input: &Value, response: &Value) -> Value {
        json!({"hook_event_name": name, "tool_name": tool, "tool_input": input, "tool_response": response,
               "tool_use_id": "toolu_1", "session_id": "s", "cwd": "/w"})
    }

    #[test]
    fn the_start_of_a_command() {
        let input = json!({"command": "ls -l"});
        let expected = json!({
            "id": "01", "event": "start", "at": 5, "client": "claude", "run": "run_1", "hook": "PreToolUse",
            "call_id": "toolu_1", "tool": "Bash", "cwd": "/w", "native_session": "s", "command": "ls -l",
            "input": input,
        });
        assert_eq!(event(&hook("PreToolUse", "Bash", &input, &Value::Null)), expected);
    }

    #[test]
    fn a_command_that_went_well() {
        let input = json!({"command": "ls"});
        let told = event(&hook("PostToolUse", "Bash", &input, &json!({"stdout": "a\n", "stderr": "b"})));
        assert_eq!(
            (&told["event"], &told["exit_code"], &told["failed"]),
            (&json!("end"), &json!(0), &json!(false))
        );
        assert_eq!(told["output"], "a\n\nb");
    }

    #[test]
    fn a_command_that_runs_on_has_no_exit_code() {
        let input = json!({"command": "serve", "run_in_background": true});
        let told = event(&hook("PostToolUse", "Bash", &input, &json!({"stdout": "", "stderr": ""})));
        assert_eq!(told["exit_code"], Value::Null);
    }

    #[test]
    fn a_failure_names_its_exit_code() {
        let mut failure = hook("PostToolUseFailure", "Bash", &json!({"command": "false"}), &Value::Null);
        failure["error"] = json!("Exit code 3\nno");
        let told = event(&failure);
        assert_eq!((&told["exit_code"], &told["failed"]), (&json!(3), &json!(true)));
        assert_eq!(told["error"], "Exit code 3\nno");
    }

    #[test]
    fn exit_codes_stand_in_texts_and_in_metadata() {
        let input = json!({"command": "x"});
        for (text, code) in [
            ("Output: Exit Code: 9\nx\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>", json!(2)),
            ("Output: Exit Code: 9\nx\nProcess Group PGID: 7", json!(0)),
            ("Output: x\nSignal: 9\nProcess Group PGID: 7", Value::Null),
        ] {
            let shell = json!({"llmContent": text});
            assert_eq!(event(&hook("AfterTool", "run_shell_command", &input, &shell))["exit_code"], code);
        }
        let opencode = json!({"output": "", "metadata": {"exit": 1}});
        assert_eq!(event(&hook("PostToolUse", "bash", &input, &opencode))["exit_code"], 1);
        let other = json!({"llmContent": "Exit Code: 2"});
        assert_eq!(event(&hook("AfterTool", "read_file", &json!({}), &other))["exit_code"], Value::Null);
    }

    #[test]
    fn files_are_read_or_written_by_the_tool_that_names_them() {
        let input = json!({"file_path": "/w/a"});
        assert_eq!(event(&hook("PreToolUse", "Read", &input, &Value::Null))["reads"], json!(["/w/a"]));
        assert_eq!(event(&hook("PreToolUse", "Edit", &input, &Value::Null))["writes"], json!(["/w/a"]));
        let grep = event(&hook("PreToolUse", "Grep", &json!({"path": "/w"}), &Value::Null));
        assert_eq!((&grep["reads"], &grep["writes"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn a_patch_in_a_command_is_no_command() {
        let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch";
        let told = event(&hook("PostToolUse", "apply_patch", &json!({"command": patch}), &json!("Success")));
        assert_eq!((&told["command"], &told["patch"]), (&Value::Null, &json!(patch)));
        assert_eq!((&told["writes"], &told["output"]), (&json!(["a.py"]), &json!("Success")));
        assert_eq!(told["failed"], Value::Null);
    }

    #[test]
    fn what_is_no_tool_call_is_a_note() {
        let told = event(&json!({"hook_event_name": "Stop", "session_id": "s"}));
        assert_eq!((&told["event"], &told["hook"]), (&json!("note"), &json!("Stop")));
    }

    #[test]
    fn a_text_is_cut_between_words() {
        assert_eq!(cut("one two three", 9), "one two");
        assert_eq!(cut("one", 9), "one");
        assert_eq!(cut("ééé", 3), "é");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~é]{0,20}".prop_map(Value::from),
        ];
        let keys = "hook_event_name|tool_name|tool_input|tool_response|command|structuredPatch|lines|error|metadata|exit|paths|x";
        leaf.prop_recursive(4, 32, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(keys, inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_a_client_says_is_an_event(hook in any_json()) {
            let told = event(&hook);
            prop_assert!(["start", "end", "note"].contains(&told["event"].as_str().unwrap_or_default()));
            prop_assert_eq!(&told["id"], "01");
        }
    }
}
