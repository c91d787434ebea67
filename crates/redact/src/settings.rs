//! The user's settings of redaction, and the redactor that they ask for.

use crate::patterns::{PatternError, compile_whole};
use crate::redactor::Redactor;
use crate::rules::RuleFileError;
use crate::rulesets::{NEWEST, UnknownName, rule_file};

/// The recorder's settings of redaction: `[redaction]` of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The version of the rules; the newest if there is none.
    pub ruleset_version: Option<String>,
    /// Classes to switch off.
    pub off: Vec<String>,
    /// Classes to switch on.
    pub on: Vec<String>,
    /// Patterns of secrets that stay.
    pub allow: Vec<String>,
    /// The user's own rules, as TOML with `[[rule]]` tables.
    pub rules_toml: Option<String>,
    /// What the redactor is for, such as `wire`.
    pub profile: Option<String>,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A version, class or profile that is not there.
    #[error("[redaction]: {0}")]
    Unknown(#[from] UnknownName),
    /// A rule of the user that breaks the rules of redaction/1.
    #[error("[redaction]: {0}")]
    Rules(#[from] RuleFileError),
    /// A pattern of `allow` that is not part of the language.
    #[error("[redaction]: `allow` number {number}: {reason}")]
    Allow {
        /// Which of them, from 1 on.
        number: usize,
        /// Why it is refused.
        reason: PatternError,
    },
}

impl Redactor {
    /// The redactor that settings ask for.
    ///
    /// A class is on if the rule file, the user or the profile switch it on and neither of the latter two off.
    ///
    /// # Errors
    /// When the settings name something that is not there, or a rule or pattern of the user is wrong.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingsError> {
        let file = settings.ruleset_version.as_deref().map_or(Ok(NEWEST), rule_file)?;
        let mut redactor = Self::from_toml(file, own_rules(settings))?;
        for (number, pattern) in (1..).zip(&settings.allow) {
            compile_whole(std::slice::from_ref(pattern))
                .map_err(|reason| SettingsError::Allow { number, reason })?;
        }
        redactor.allow = compile_whole(&settings.allow)
            .map_err(|reason| SettingsError::Allow { number: settings.allow.len(), reason })?;
        for class in &settings.on {
            redactor.rules.switch(class, true)?;
        }
        if let Some(profile) = &settings.profile {
            redactor.apply_profile(profile)?;
        }
        for class in &settings.off {
            redactor.rules.switch(class, false)?;
        }
        redactor.prepare();
        if let Some(mark) = mark(settings) {
            redactor.version = format!("{}+user.{mark:08x}", redactor.version);
        }
        Ok(redactor)
    }
}

/// The user's own rules, if there are any.
fn own_rules(settings: &Settings) -> Option<&str> {
    settings.rules_toml.as_deref().map(str::trim).filter(|rules| !rules.is_empty())
}

/// A number that tells apart what users have set; none if that is nothing.
fn mark(settings: &Settings) -> Option<u32> {
    let rules = own_rules(settings);
    let lists = [&settings.on, &settings.off, &settings.allow];
    if lists.iter().all(|list| list.is_empty()) && rules.is_none() {
        return None;
    }
    let mut hash = Fnv::default();
    for list in lists {
        for text in list {
            hash.add(text);
        }
        hash.end();
    }
    if let Some(rules) = rules {
        hash.add(rules);
    }
    Some(hash.0)
}

/// FNV-1a: not for secrets, only to see that two settings differ.
struct Fnv(u32);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Fnv {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.byte(byte);
        }
    }

    fn end(&mut self) {
        self.byte(1);
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "[[rule]]\nid = 'berth'\nkind = 'berth'\npattern = 'brt_[a-z0-9]{8}'\n";

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn redactor(settings: &Settings) -> Redactor {
        Redactor::from_settings(settings).unwrap_or_else(|error| panic!("{error}"))
    }

    fn problem(settings: &Settings) -> String {
        Redactor::from_settings(settings).err().map_or_else(String::new, |error| error.to_string())
    }

    fn clean(redactor: &Redactor, text: &str) -> String {
        redactor.redact(text.as_bytes()).0.escape_ascii().to_string()
    }

    fn on(redactor: &Redactor, name: &str) -> bool {
        redactor.classes().iter().any(|class| class.name == name && class.on)
    }

    #[test]
    fn without_settings_it_is_the_newest_set_of_rules() {
        assert_eq!(redactor(&Settings::default()).version(), "2026.11.3");
        assert_eq!(Redactor::builtin().version(), "2026.11.3");
    }

    #[test]
    fn a_user_switches_extends_and_allows() {
        let settings = Settings {
            off: list(&["url"]),
            allow: list(&["hunter2"]),
            rules_toml: Some(RULE.to_owned()),
            ..Settings::default()
        };
        assert_eq!(
            clean(&redactor(&settings), "ftp://a:b1@c password=hunter2 password=hunter22 brt_0a1b2c3d"),
            "ftp://a:b1@c password=hunter2 password=[redacted:password] [redacted:berth]"
        );
    }

    #[test]
    fn a_profile_and_a_user_switch_off_what_the_other_switches_on() {
        let wire = Settings { profile: Some("wire".to_owned()), ..Settings::default() };
        let plain = redactor(&wire);
        assert!(on(&plain, "identity") && !on(&plain, "entropy") && on(&plain, "keys"));
        let user = redactor(&Settings { on: list(&["entropy"]), off: list(&["identity", "keys"]), ..wire });
        assert!(!on(&user, "identity") && !on(&user, "entropy") && !on(&user, "keys"));
        let identity = redactor(&Settings { on: list(&["identity"]), ..Settings::default() });
        assert_eq!(
            clean(&identity, r#"{"device_id":"0a1b2c3d"}"#),
            r#"{\"device_id\":\"[redacted:device_id]\"}"#
        );
    }

    #[test]
    fn an_older_set_of_rules_is_pinned() {
        let settings = Settings {
            ruleset_version: Some("2026.11.2".to_owned()),
            profile: Some("wire".to_owned()),
            ..Settings::default()
        };
        let pinned = redactor(&settings);
        assert_eq!(pinned.version(), "2026.11.2");
        assert_eq!(
            clean(&pinned, "device_id: 'abcdefgh' password=hunter2"),
            r"device_id: \'abcdefgh\' password=[redacted:password]"
        );
    }

    #[test]
    fn the_version_tells_settings_apart() {
        let allow = redactor(&Settings { allow: list(&["ab"]), ..Settings::default() });
        let other = redactor(&Settings { allow: list(&["a", "b"]), ..Settings::default() });
        let off = redactor(&Settings { off: list(&["url"]), ..Settings::default() });
        let rules = redactor(&Settings { rules_toml: Some(RULE.to_owned()), ..Settings::default() });
        let mut versions = [&allow, &other, &off, &rules].map(Redactor::version);
        assert!(versions.iter().all(|version| version.starts_with("2026.11.3+user.") && version.len() == 23));
        versions.sort_unstable();
        assert!(versions.windows(2).all(|two| two[0] != two[1]), "{versions:?}");
        assert_eq!(
            redactor(&Settings { profile: Some("wire".to_owned()), ..Settings::default() }).version(),
            "2026.11.3"
        );
        assert_eq!(
            redactor(&Settings { rules_toml: Some(" \n".to_owned()), ..Settings::default() }).version(),
            "2026.11.3"
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (settings, told) in [
            (
                Settings { ruleset_version: Some("2026.11.1".to_owned()), ..Settings::default() },
                r#"[redaction]: there is no rule set "2026.11.1" (did you mean "2026.11.2"? there is"#,
            ),
            (
                Settings { off: list(&["entrpy"]), ..Settings::default() },
                r#"no class "entrpy" (did you mean "entropy"?"#,
            ),
            (Settings { on: list(&["x"]), ..Settings::default() }, r#"no class "x" (there is pem, "#),
            (Settings { profile: Some("wier".to_owned()), ..Settings::default() }, r#"no profile "wier""#),
            (
                Settings { allow: list(&["ok", "no$"]), ..Settings::default() },
                "[redaction]: `allow` number 2: $ at byte 2 is not part of the language",
            ),
            (
                Settings { rules_toml: Some(RULE.replace("]{8}", "")), ..Settings::default() },
                r#"entry "berth" cannot be used: in its pattern"#,
            ),
        ] {
            let problem = problem(&settings);
            assert!(problem.contains(told), "{problem}");
        }
    }
}
