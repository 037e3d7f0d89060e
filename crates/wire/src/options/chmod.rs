//! What does `--chmod` make of a mode?

use crate::escape::printable;

/// Read, write and execute of user, group and others.
const ALL_RWX: u32 = 0o777;
const SETUID: u32 = 0o4000;
const SETGID: u32 = 0o2000;
const STICKY: u32 = 0o1000;

/// Holds the changes of all `--chmod` options in their order.
///
/// # Examples
///
/// ```
/// use wire::options::ChmodRules;
///
/// let mut rules = ChmodRules::default();
/// rules.add(b"Dg+s,F644").unwrap();
/// assert_eq!(rules.apply(0o755, true, 0o022), 0o2755);
/// assert_eq!(rules.apply(0o600, false, 0o022), 0o644);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChmodRules(Vec<Rule>);

/// Says that a `--chmod` makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no list of modes (\"{0}\" is wrong; right are F644, Dg+s, go=rX)")]
pub struct ChmodError(String);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    on: On,
    change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    All,
    Directories,
    Others,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Octal(u32),
    Letters { who: Who, op: Op, letters: Letters },
    Copy { who: Who, op: Op, shift: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Add,
    Remove,
    Assign,
}

/// The classes that a change names; none named means all, but less the umask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Who {
    user: bool,
    group: bool,
    others: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Letters {
    /// `r`, `w`, `x` as bits of one class.
    rwx: u32,
    /// `X`: execute where something is executable.
    x_if_executable: bool,
    set_id: bool,
    sticky: bool,
}

impl ChmodRules {
    /// Appends the changes of one `--chmod`.
    ///
    /// # Errors
    ///
    /// Names the change that makes no sense.
    pub fn add(&mut self, text: &[u8]) -> Result<(), ChmodError> {
        for item in text.split(|byte| *byte == b',') {
            let rule = Rule::parse(item).ok_or_else(|| ChmodError(printable(item)))?;
            self.0.push(rule);
        }
        Ok(())
    }

    /// Tells whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the permission bits after all changes. Symlinks must not come here.
    ///
    /// Bits of `mode` beyond the permissions are kept. `umask` limits changes without a class.
    pub fn apply(&self, mode: u32, is_dir: bool, umask: u32) -> u32 {
        let wanted = |rule: &&Rule| match rule.on {
            On::All => true,
            On::Directories => is_dir,
            On::Others => !is_dir,
        };
        // What `X` looks at is the mode before all changes.
        let executable = is_dir || mode & 0o111 != 0;
        let permissions =
            self.0.iter().filter(wanted).fold(mode & 0o7777, |mode, rule| {
                rule.change.apply(mode, executable, umask) & 0o7777
            });
        mode & !0o7777 | permissions
    }
}

impl Rule {
    fn parse(item: &[u8]) -> Option<Rule> {
        let (on, text) = match item {
            [b'D', rest @ ..] => (On::Directories, rest),
            [b'F', rest @ ..] => (On::Others, rest),
            _ => (On::All, item),
        };
        Some(Rule { on, change: Change::parse(text)? })
    }
}

impl Change {
    fn parse(text: &[u8]) -> Option<Change> {
        if text.first()?.is_ascii_digit() {
            let digits = std::str::from_utf8(text).ok()?;
            let octal = u32::from_str_radix(digits, 8).ok()?;
            return (octal <= 0o7777).then_some(Change::Octal(octal));
        }
        let who_len = text.iter().take_while(|byte| b"ugoa".contains(byte)).count();
        let who = Who::of(&text[..who_len]);
        let (op, rest) = match &text[who_len..] {
            [b'+', rest @ ..] => (Op::Add, rest),
            [b'-', rest @ ..] => (Op::Remove, rest),
            [b'=', rest @ ..] => (Op::Assign, rest),
            _ => return None,
        };
        let copy = |shift| Some(Change::Copy { who, op, shift });
        match rest {
            b"u" => copy(6),
            b"g" => copy(3),
            b"o" => copy(0),
            _ => Some(Change::Letters { who, op, letters: Letters::of(rest)? }),
        }
    }

    fn apply(&self, mode: u32, executable: bool, umask: u32) -> u32 {
        match self {
            Change::Octal(octal) => *octal,
            Change::Letters { who, op, letters } => {
                let bits = each_class(letters.rwx_of(executable)) & who.mask(umask);
                let special = letters.special(*who);
                let named = if letters.names_special() { who.set_ids() } else { 0 };
                changed(mode, *op, bits | special, who.rwx() | named)
            }
            Change::Copy { who, op, shift } => {
                let bits = each_class(mode >> shift & 7) & who.mask(umask);
                changed(mode, *op, bits, who.rwx() | who.all_special())
            }
        }
    }
}

/// Changes bits of a mode; an assignment clears all of `whole` first.
fn changed(mode: u32, op: Op, bits: u32, whole: u32) -> u32 {
    match op {
        Op::Add => mode | bits,
        Op::Remove => mode & !bits,
        Op::Assign => mode & !whole | bits,
    }
}

/// Gives the three classes the same bits.
fn each_class(rwx: u32) -> u32 {
    rwx << 6 | rwx << 3 | rwx
}

impl Who {
    fn of(letters: &[u8]) -> Who {
        let has = |letter| letters.contains(&letter) || letters.contains(&b'a');
        Who { user: has(b'u'), group: has(b'g'), others: has(b'o') }
    }

    fn is_named(self) -> bool {
        self.user || self.group || self.others
    }

    /// The permissions that are assigned to.
    fn rwx(self) -> u32 {
        match self.is_named() {
            true => self.pick(0o700, 0o070, 0o007),
            false => ALL_RWX,
        }
    }

    /// The permissions that can be set.
    fn mask(self, umask: u32) -> u32 {
        if self.is_named() { self.rwx() } else { ALL_RWX & !umask }
    }

    /// The set-id bits of the classes that are named.
    fn set_ids(self) -> u32 {
        self.pick(SETUID, SETGID, 0)
    }

    /// The special bits of the classes that are meant.
    fn all_special(self) -> u32 {
        match self.is_named() {
            true => self.pick(SETUID, SETGID, STICKY),
            false => SETUID | SETGID | STICKY,
        }
    }

    fn pick(self, user: u32, group: u32, others: u32) -> u32 {
        let part = |named: bool, bits: u32| if named { bits } else { 0 };
        part(self.user, user) | part(self.group, group) | part(self.others, others)
    }
}

impl Letters {
    fn of(text: &[u8]) -> Option<Letters> {
        let mut letters = Letters::default();
        for letter in text {
            match letter {
                b'r' => letters.rwx |= 4,
                b'w' => letters.rwx |= 2,
                b'x' => letters.rwx |= 1,
                b'X' => letters.x_if_executable = true,
                b's' => letters.set_id = true,
                b't' => letters.sticky = true,
                _ => return None,
            }
        }
        Some(letters)
    }

    fn rwx_of(self, executable: bool) -> u32 {
        self.rwx | u32::from(self.x_if_executable && executable)
    }

    fn names_special(self) -> bool {
        self.set_id || self.sticky
    }

    /// The special bits; `s` without user or group is set-user-id.
    fn special(self, who: Who) -> u32 {
        let set_id = match (self.set_id, who.set_ids()) {
            (false, _) => 0,
            (true, 0) => SETUID,
            (true, bits) => bits,
        };
        set_id | if self.sticky { STICKY } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `SPEC MODE RESULT` of regular files under umask 077, as stock rsync 3.5.0 made them.
    const RECORDED: &str = "u+x 0644 0744; +x 0644 0744; +X 0644 0644; a+X 0111 0111; \
        =rwx 7777 7700; -w 7777 7577; g=u 2755 0775; g=u 0644 0664; o=g 1777 0777; g-o 0644 0604; \
        755 4644 0755; 0 7777 0000; g+s 0644 2644; o+s 0644 4644; +s 0644 4644; u+t 0644 1644; \
        o=t 7777 7770; g=t 7777 5707; u=t 7777 3077; a=t 7777 1000; =t 7777 7000; =s 2755 6000; \
        a= 7777 7000; = 0644 0000; u=rwX 4755 4755; go=X 0755 0711; -x,+X 0755 0755; a-x,a+X 0644 0644; \
        ug=rwxs 0644 6774; a-s 7777 1777; -s 7777 3777; u=u 4755 0755; =o 0644 0400; \
        +g 0426 0626; -u 0644 0044; a=st 0644 7000; o-s 6755 2755; u=g,g+o 0426 0266; \
        Dg+s,ug+w,Fo-w,+X 0426 0624; D755 0600 0600; F640 0777 0640; a=,u=rw 0777 0600";

    #[test]
    fn modes_become_what_rsync_makes_of_them() {
        for line in RECORDED.split("; ") {
            let words: Vec<&str> = line.split_whitespace().collect();
            let octal = |word: &str| u32::from_str_radix(word, 8).unwrap();
            let mut rules = ChmodRules::default();
            rules.add(words[0].as_bytes()).unwrap();
            let mode = rules.apply(0o100_000 | octal(words[1]), false, 0o077);
            assert_eq!(format!("{mode:06o}"), format!("10{}", words[2]), "{line}");
        }
    }

    #[test]
    fn only_directories_and_only_others_can_be_meant() {
        let mut rules = ChmodRules::default();
        rules.add(b"D2775,F664").unwrap();
        assert_eq!(rules.apply(0o700, true, 0), 0o2775);
        assert_eq!(rules.apply(0o700, false, 0), 0o664);
    }

    #[test]
    fn what_rsync_takes_for_no_mode_is_refused() {
        let wrong =
            ["foo", "a+X,,u+r", "999", "", "Du+x,F", "DF755", "u+r-w", "17777", "u", "D+755"];
        for text in wrong {
            assert!(ChmodRules::default().add(text.as_bytes()).is_err(), "{text}");
        }
    }
}
