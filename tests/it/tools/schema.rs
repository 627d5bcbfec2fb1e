//! What the model is told, and what is accepted.

use codebot::kernel::message::InvalidArgs;
use codebot::kernel::ports::{Access, Capability, Interrupt, Toolbox};
use codebot::tools::validate;
use serde_json::{Value, json};

use super::{Desk, call};

#[test]
fn the_table_lists_every_tool_once_with_a_closed_schema_and_a_description() {
    let desk = Desk::new();
    let names: Vec<_> = desk.tools.specs().iter().map(|spec| spec.name.clone()).collect();
    let files = ["read", "write", "edit", "bash", "grep", "glob", "ls"];
    let tasks = ["task_output", "task_list", "task_stop", "web_fetch", "todo_write"];
    assert_eq!(names, [&files[..], &tasks[..]].concat());
    for spec in desk.tools.specs().iter() {
        assert!(spec.description.len() > 40, "{}", spec.name);
        assert_eq!(spec.schema["type"], "object");
        assert_eq!(spec.schema["additionalProperties"], false);
        let text = spec.schema.to_string();
        for word in ["$schema", "$ref", "title", "\"format\"", "null"] {
            assert!(!text.contains(word), "{} has {word}: {text}", spec.name);
        }
    }
}

#[test]
fn the_schema_of_edit_is_plain_and_stable() {
    let desk = Desk::new();
    let specs = desk.tools.specs();
    let edit = specs.iter().find(|spec| spec.name == "edit").unwrap();
    let piece = &edit.schema["properties"]["edits"]["items"];
    assert_eq!(edit.schema["required"], json!(["file_path", "edits"]));
    assert_eq!(piece["required"], json!(["old", "new"]));
    assert_eq!(piece["additionalProperties"], false);
    assert_eq!(piece["properties"]["replace_all"]["type"], "boolean");
    let again = Desk::new();
    assert_eq!(serde_json::to_string(&edit.schema).unwrap(), {
        let specs = again.tools.specs();
        let edit = specs.iter().find(|spec| spec.name == "edit").unwrap();
        serde_json::to_string(&edit.schema).unwrap()
    });
}

#[test]
fn traits_say_what_a_tool_may_do() {
    let desk = Desk::new();
    for name in ["read", "grep", "glob", "ls"] {
        let traits = desk.tools.traits(name).unwrap();
        assert_eq!(traits.capability, Capability::Read);
        assert!(traits.concurrent);
        assert_eq!(traits.interrupt, Interrupt::Cancel);
    }
    for (name, capability) in
        [("write", Capability::Write), ("edit", Capability::Write), ("bash", Capability::Shell)]
    {
        let traits = desk.tools.traits(name).unwrap();
        assert_eq!(traits.capability, capability);
        assert!(!traits.concurrent);
        assert_eq!(traits.interrupt, Interrupt::Finish);
    }
    assert!(desk.tools.traits("Read").is_none());
}

fn problems(name: &str, args: Value) -> String {
    Desk::new().tools.validate(&call(name, args)).unwrap_err()
}

/// scenario 89
#[test]
fn all_schema_problems_come_in_one_message_with_what_is_missing_first() {
    let text = problems("edit", json!({"edits": [{"old": 3}, "x"], "foo": 1}));
    let order = [
        "missing `file_path`",
        "missing `edits[0].new`",
        "`edits[0].old` must be a string",
        "`edits[1]` must be an object",
        "unknown `foo`",
    ];
    let places: Vec<_> = order.iter().map(|part| text.find(part).expect(part)).collect();
    assert!(places.is_sorted(), "{text}");
}

/// scenario 90
#[test]
fn whole_floats_are_integers_and_integers_are_numbers_and_null_must_be_allowed() {
    let desk = Desk::new();
    let valid = |name: &str, args| desk.tools.validate(&call(name, args)).is_ok();
    assert!(valid("read", json!({"file_path": "a", "offset": 3.0})));
    assert!(!valid("read", json!({"file_path": "a", "offset": 3.5})));
    assert!(valid("bash", json!({"command": "true", "timeout": 3})));
    assert!(!valid("bash", json!({"command": null})));
    assert!(!valid("read", json!({"file_path": "a", "limit": 0})));
    let schema = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": ["integer", "null"]}, "b": {"type": "integer"}}});
    let args = json!({"a": null, "b": null});
    let text = validate::check("t", &schema, args.as_object().unwrap()).unwrap_err();
    assert_eq!(text, "invalid arguments for t: `b` must be an integer, not null");
}

#[tokio::test]
async fn a_whole_float_reaches_the_tool_as_an_integer_and_a_null_option_as_absent() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\n");
    let args = json!({"file_path": "a.txt", "offset": 2.0, "limit": null});
    assert_eq!(desk.ok("read", args).await, "2→two\n");
}

/// scenario 92
#[test]
fn an_extra_property_is_refused_only_by_a_closed_schema() {
    let args = json!({"x": 1});
    let open = json!({"type": "object", "properties": {}});
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert!(validate::check("t", &open, args.as_object().unwrap()).is_ok());
    assert!(validate::check("t", &closed, args.as_object().unwrap()).is_err());
}

#[test]
fn bounds_and_choices_are_checked() {
    let text = problems("bash", json!({"command": "", "timeout": 120_000}));
    assert!(text.contains("`timeout` must be at most 3600"), "{text}");
    assert!(text.contains("`command` must have at least 1"), "{text}");
    assert!(problems("bash", json!({"command": "x", "timeout": 0})).contains("more than 0"));
    assert!(problems("edit", json!({"file_path": "a", "edits": []})).contains("at least 1 item"));
    let schema =
        json!({"type": "object", "properties": {"m": {"type": "string", "enum": ["a", "b"]}}});
    let args = json!({"m": "c"});
    let text = validate::check("t", &schema, args.as_object().unwrap()).unwrap_err();
    assert!(text.contains("`m` must be one of \"a\", \"b\""), "{text}");
}

#[test]
fn unknown_tools_and_unreadable_arguments_do_not_validate() {
    let desk = Desk::new();
    assert!(desk.tools.validate(&call("frobnicate", json!({}))).is_err());
    let mut broken = call("read", json!({}));
    broken.invalid = Some(InvalidArgs { raw: "{".into(), error: "unexpected end".into() });
    assert!(desk.tools.validate(&broken).unwrap_err().contains("unexpected end"));
}

#[test]
fn access_names_absolute_paths_cleaned_by_letters() {
    let desk = Desk::new();
    let of = |name: &str, args| desk.tools.access(&call(name, args));
    let ws = desk.path("");
    let ws = ws.parent().unwrap().join("ws");
    assert_eq!(of("read", json!({"file_path": "a/./b/../c"})), [Access::Read(ws.join("a/c"))]);
    assert_eq!(
        of("read", json!({"file_path": "/etc//passwd"})),
        [Access::Read("/etc/passwd".into())]
    );
    assert_eq!(
        of("write", json!({"file_path": "../x", "content": ""})),
        [Access::Write(ws.parent().unwrap().join("x"))]
    );
    let edits = json!([{"old": "a", "new": "b"}]);
    assert_eq!(
        of("edit", json!({"file_path": "~/x", "edits": edits})),
        [Access::Write(ws.join("~/x"))]
    );
    assert_eq!(of("grep", json!({"pattern": "x"})), [Access::Read(ws.clone())]);
    assert_eq!(of("glob", json!({"pattern": "/etc/ssl/*.pem"})), [Access::Read("/etc/ssl".into())]);
    assert_eq!(
        of("glob", json!({"pattern": "../*.rs"})),
        [Access::Read(ws.parent().unwrap().to_owned())]
    );
    assert_eq!(of("ls", json!({"path": "/"})), [Access::Read("/".into())]);
    assert_eq!(
        of("bash", json!({"command": "ls", "workdir": "sub"})),
        [Access::Shell { command: "ls".into(), workdir: ws.join("sub") }]
    );
}
