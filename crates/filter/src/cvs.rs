//! Which names does CVS leave alone?

use crate::lines::words;
use crate::pattern::{Pattern, Root};
use crate::rule::{CvsRule, MatchRule, Perishable, Source, Traits};

/// The user's own additions to the global CVS list; the caller knows where they come from.
#[derive(Clone, Debug, Default)]
pub struct CvsIgnore {
    /// The content of `$HOME/.cvsignore`.
    pub home_file: Vec<u8>,
    /// The value of `$CVSIGNORE`.
    pub variable: Vec<u8>,
}

const BUILT_IN: &[u8] = b"RCS SCCS CVS CVS.adm RCSLOG cvslog.* tags TAGS .make.state .nse_depinfo \
    *~ #* .#* ,* _$* *$ *.old *.bak *.BAK *.orig *.rej .del-* *.a *.olb *.o *.obj *.so *.exe *.Z \
    *.elc *.ln core .svn/ .git/ .hg/ .bzr/";

/// Gives the rules that a `-C` rule stands for.
pub(crate) fn expand(rule: &CvsRule, ignore: &CvsIgnore) -> Vec<MatchRule> {
    let mut rules: Vec<_> =
        words(BUILT_IN).map(|word| match_rule(rule, word, Perishable::Since30)).collect();
    for word in words(&ignore.home_file).chain(words(&ignore.variable)) {
        if word == b"!" {
            rules.clear();
        } else {
            rules.push(match_rule(rule, word, Perishable::No));
        }
    }
    rules
}

fn match_rule(rule: &CvsRule, word: &[u8], perishable: Perishable) -> MatchRule {
    let (text, dirs_only) = match word {
        [body @ .., b'/'] if !body.is_empty() => (body, true),
        word => (word, false),
    };
    let perishable = perishable.max(rule.traits.perishable);
    let root = if rule.traits.absolute { Root::FileSystem } else { Root::Transfer };
    MatchRule {
        verdict: rule.verdict,
        traits: Traits { perishable, ..rule.traits },
        pattern: Pattern::new(text, dirs_only, &root),
        source: Source::Cvs,
    }
}
