//! What `docs/formats/redaction-1.md` says, one sentence at a time, with small rule files.

use redact::{EntryProblem, PatternError, Redactor, RuleFileError};

const HEADER: &str = r#"
format = "redaction/1"
version = "7"
class = [{ name = "one", on = true, help = "." }, { name = "two", on = false, help = "." }]
profile = [{ name = "quiet", off = ["one"] }]
"#;

/// A redactor by the rule file that has `entries` behind a header with the classes `one` (on) and `two` (off).
fn redactor(entries: &str) -> Redactor {
    Redactor::from_toml(&format!("{HEADER}{entries}"), None).unwrap_or_else(|error| panic!("{error}"))
}

fn rule(id: &str, rest: &str) -> String {
    format!("[[rule]]\nid = '{id}'\nclass = 'one'\nkind = '{id}'\n{rest}\n")
}

fn clean(redactor: &Redactor, text: &[u8]) -> String {
    redactor.redact(text).0.escape_ascii().to_string()
}

fn problem(entries: &str) -> String {
    match Redactor::from_toml(&format!("{HEADER}{entries}"), None) {
        Ok(_) => panic!("{entries} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_group_named_secret_is_hidden_else_the_whole_match() {
    let group = redactor(&rule("group", "pattern = 'key=(?P<secret>[a-z]+)'"));
    assert_eq!(clean(&group, b"key=abc1 key=1 key=d"), "key=[redacted:group]1 key=1 key=[redacted:group]");
    let whole = redactor(&rule("whole", "pattern = 'key=[a-z]+'"));
    assert_eq!(clean(&whole, b"key=abc1"), "[redacted:whole]1");
    let either = redactor(&rule("either", "pattern = 'key=(?P<secret>[a-z]+)|key:[a-z]+'"));
    assert_eq!(clean(&either, b"key=abc key:abc"), "key=[redacted:either] [redacted:either]");
}

#[test]
fn the_first_alternative_that_matches_wins() {
    assert_eq!(clean(&redactor(&rule("first", "pattern = 'ab|abc'")), b"abc"), "[redacted:first]c");
    assert_eq!(clean(&redactor(&rule("lazy", "pattern = 'ab+?'")), b"abbb"), "[redacted:lazy]bb");
}

#[test]
fn what_is_ignored_is_ignored_as_a_whole_and_the_search_goes_on_behind_the_match() {
    let redactor = redactor(&rule("x", "pattern = 'k(?P<secret>[a-z]+);k?'\nignore = ['none', 'n|no']"));
    assert_eq!(
        clean(&redactor, b"knone;knone2 kno; knot; knone;kabc;"),
        "knone;knone2 kno; k[redacted:x]; knone;kabc;"
    );
}

#[test]
fn fold_means_either_case_in_pattern_and_anchors_but_not_in_ignore() {
    let entry =
        rule("x", "fold = true\nanchors = ['pass']\npattern = 'pass=(?P<secret>[a-z]+)'\nignore = ['none']");
    assert_eq!(
        clean(&redactor(&entry), b"PaSS=AbC pass=none pass=NONE"),
        "PaSS=[redacted:x] pass=none pass=[redacted:x]"
    );
}

#[test]
fn the_edge_of_a_word_is_seen_before_the_anchor() {
    let redactor = redactor(&rule("x", "anchors = ['key']\npattern = '\\bkey[0-9]'"));
    assert_eq!(
        clean(&redactor, b"akey1 key2 \xe9key3 key4key5"),
        "akey1 [redacted:x] \\xe9[redacted:x] [redacted:x]key5"
    );
}

#[test]
fn overlapping_spans_are_merged_under_the_kind_that_begins_first() {
    let redactor = redactor(&[rule("b", "pattern = 'bcd'"), rule("a", "pattern = 'abc'")].concat());
    assert_eq!(clean(&redactor, b"abcd."), "[redacted:a].");
    assert_eq!(clean(&redactor, b"abc.bcd"), "[redacted:a].[redacted:b]");
    assert_eq!(clean(&redactor, b"abcbcd"), "[redacted:a][redacted:b]");
}

#[test]
fn of_spans_that_begin_together_blocks_name_the_kind_then_rules_then_entropy() {
    let words = "[[entropy]]\nid = 'e'\nclass = 'one'\nkind = 'e'\nalphabet = 'BEGIN'\nleast = 5\nmost = 5\nbits = 0\n";
    let (first, second) = (rule("x", "pattern = 'BE'"), rule("y", "pattern = 'BEG'"));
    assert_eq!(clean(&redactor(&[words, &first, &second, BLOCK].concat()), b"BEGIN END"), "[redacted:b]");
    assert_eq!(clean(&redactor(&[words, &second, &first, BLOCK].concat()), b"BEGIN"), "[redacted:y]");
    assert_eq!(clean(&redactor(&[words, BLOCK].concat()), b"BEGIN"), "[redacted:e]");
}

#[test]
fn a_span_that_touches_a_marker_is_dropped_unless_it_is_a_block() {
    let redactor = redactor(&[&rule("x", "pattern = 'k[a-z]*'"), BLOCK].concat());
    assert_eq!(
        clean(&redactor, b"k[redacted:x] [redacted:x]k k"),
        "k[redacted:x] [redacted:x]k [redacted:x]"
    );
    assert_eq!(clean(&redactor, b"BEGIN [redacted:x] END"), "[redacted:b]");
}

#[test]
fn classes_are_switched() {
    let mut redactor = redactor(&rule("x", "pattern = 'x'").replace("'one'", "'two'"));
    assert_eq!(clean(&redactor, b"x"), "x");
    redactor.switch("two", true).expect("there is one");
    assert_eq!(clean(&redactor, b"x"), "[redacted:x]");
    let error = redactor.switch("three", true).expect_err("there is none");
    assert_eq!(error.to_string(), r#"there is no class "three" (there is one, two)"#);
}

#[test]
fn a_profile_switches_its_classes_off() {
    let mut redactor = redactor(&rule("x", "pattern = 'x'"));
    redactor.apply_profile("quiet").expect("there is one");
    assert_eq!(clean(&redactor, b"x"), "x");
    let on: Vec<bool> = redactor.classes().iter().map(|class| class.on).collect();
    assert_eq!(on, [false, false]);
    let error = redactor.apply_profile("loud").expect_err("there is none");
    assert_eq!(error.to_string(), r#"there is no profile "loud" (there is quiet)"#);
}

const BLOCK: &str = r"
[[block]]
id = 'b'
class = 'one'
kind = 'b'
anchors = ['BEGIN']
begin = 'BEGIN[0-9]?'
end = 'END'
body = '(?:\s[a-z]{4})+'
limit = 20
";

#[test]
fn a_block_reaches_to_its_end() {
    assert_eq!(clean(&redactor(BLOCK), b"BEGIN any!thing END END"), "[redacted:b] END");
}

#[test]
fn a_block_without_an_end_hides_its_body() {
    let redactor = redactor(BLOCK);
    assert_eq!(clean(&redactor, b"BEGIN1 abcd efgh ijk"), "[redacted:b] ijk");
    assert_eq!(clean(&redactor, b"BEGIN. abcd"), "BEGIN. abcd");
    assert_eq!(clean(&redactor, b"BEGIN abcd efgh ijkl mnop qrst uvwx"), "[redacted:b]");
}

#[test]
fn the_limit_of_a_block_counts_from_behind_its_begin() {
    let redactor = redactor(BLOCK);
    assert_eq!(clean(&redactor, b"BEGIN12345678901234567END"), "[redacted:b]");
    assert_eq!(clean(&redactor, b"BEGIN.1234567890123456END"), "[redacted:b]");
    assert_eq!(clean(&redactor, b"BEGIN.12345678901234567END"), "BEGIN.12345678901234567END");
}

#[test]
fn the_search_goes_on_behind_a_begin_that_is_no_block() {
    assert_eq!(
        clean(&redactor(BLOCK), b"BEGIN..................BEGIN abcd"),
        "BEGIN..................[redacted:b]"
    );
}

fn words(rest: &str) -> Redactor {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let entry = format!("[[entropy]]\nid = 'e'\nclass = 'one'\nkind = 'e'\nalphabet = '{letters}'\n{rest}");
    redactor(&entry)
}

#[test]
fn a_word_is_as_long_as_possible_and_between_least_and_most() {
    let redactor = words("least = 4\nmost = 6\nbits = 0");
    assert_eq!(clean(&redactor, b"abc abcd abcdef abcdefg"), "abc [redacted:e] [redacted:e] abcdefg");
    assert_eq!(clean(&redactor, b"abcd"), "[redacted:e]");
}

#[test]
fn the_entropy_of_a_word_reaches_its_bits() {
    let redactor = words("least = 4\nmost = 8\nbits = 2000");
    assert_eq!(clean(&redactor, b"abcd aabc aabbccdd aabbccda"), "[redacted:e] aabc [redacted:e] aabbccda");
}

#[test]
fn all_needs_of_a_word_occur() {
    let redactor = words("least = 4\nmost = 8\nbits = 0\nneeds = ['upper', 'lower', 'digit']");
    assert_eq!(clean(&redactor, b"abC1 abcd1 ABC1 abCD"), "[redacted:e] abcd1 ABC1 abCD");
}

#[test]
fn a_word_directly_behind_a_literal_is_left_alone() {
    let redactor = words("least = 4\nmost = 8\nbits = 0\nbehind = ['sha:', '.']");
    assert_eq!(clean(&redactor, b"sha:abcd .abcd sha: abcd"), "sha:abcd .abcd sha: [redacted:e]");
}

#[test]
fn a_word_that_is_ignored_is_ignored_as_a_whole() {
    let redactor = words("least = 4\nmost = 8\nbits = 0\nignore = ['[a-f]+']");
    assert_eq!(clean(&redactor, b"abcd abcdg"), "abcd [redacted:e]");
}

#[test]
fn secrets_are_counted_by_kind() {
    let redactor = redactor(&[rule("a", "pattern = 'a'"), rule("b", "pattern = 'b'")].concat());
    let (_, counts) = redactor.redact(b"a b a c");
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [("a", 2), ("b", 1)]);
}

#[test]
fn the_version_is_that_of_the_file() {
    assert_eq!(redactor("").version(), "7");
}

#[test]
fn the_rules_of_the_user_rank_behind_those_of_the_package() {
    let builtin = format!("{HEADER}{}", rule("a", "pattern = 'key'"));
    let user = rule("u", "pattern = 'key[0-9]|other'").replace("class = 'one'\n", "");
    let mut redactor = Redactor::from_toml(&builtin, Some(&user)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(clean(&redactor, b"key1 other"), "[redacted:a] [redacted:u]");
    redactor.switch("user", false).expect("the class of rules that name none");
    assert_eq!(clean(&redactor, b"key1 other"), "[redacted:a]1 other");
}

#[test]
fn a_wrong_entry_is_named_with_its_problem() {
    for (entries, reason) in [
        (
            rule("x", "pattern = 'a'") + &rule("x", "pattern = 'b'"),
            r#""x" cannot be used: the name is taken"#,
        ),
        (rule("x", "pattern = 'a'").replace("'one'", "'none'"), r#"there is no class "none""#),
        (rule("x-y", "pattern = 'a'"), r#"the kind "x-y" is not of the form"#),
        (rule("x", "pattern = 'a$'"), "in its pattern: $ at byte 1 is not part of the language"),
        (rule("x", "pattern = 'a'\nignore = ['(?=a)']"), "in its ignore: (?= at byte 0"),
        (rule("x", "pattern = 'a'\nanchors = ['']"), "an anchor is empty"),
        (rule("x", "pattern = 'a'\nfold = true\nanchors = ['a', 'A']"), "has upper-case letters"),
        (
            rule("x", "pattern = '[ab]c'\nanchors = ['ac']"),
            "a match can begin with \"b\", and none of the anchors",
        ),
        (rule("x", "pattern = 'a'\nignroe = []"), "unknown field `ignroe`"),
        (rule("x", ""), "missing field `pattern`"),
        (BLOCK.replace("'END'", "'(END)'"), "in its end: (EN at byte 0"),
    ] {
        let told = problem(&entries);
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn an_entropy_entry_has_sensible_figures() {
    for figures in ["least = 0\nmost = 4", "least = 5\nmost = 4", "least = 4\nmost = 4097"] {
        let entry =
            format!("[[entropy]]\nid = 'e'\nclass = 'one'\nkind = 'e'\nalphabet = 'ab'\nbits = 1\n{figures}");
        assert!(problem(&entry).contains("'least' and 'most'"), "{figures}");
    }
}

#[test]
fn another_format_is_refused() {
    let error = Redactor::from_toml("format = 'redaction/2'\nversion = '1'", None).err();
    assert!(matches!(error, Some(RuleFileError::Format(format)) if format == "redaction/2"));
    let error = Redactor::from_toml("format = 'redaction/1'", None).err();
    assert!(matches!(error, Some(RuleFileError::NoVersion)));
}

#[test]
fn problems_are_values() {
    let error = Redactor::from_toml(&format!("{HEADER}{}", rule("x", "pattern = 'a*'")), None).err();
    let Some(RuleFileError::Entry { id, problem }) = error else { panic!("{error:?}") };
    assert_eq!(id, "x");
    assert_eq!(problem, EntryProblem::Pattern { key: "pattern", reason: PatternError::Empty });
}
