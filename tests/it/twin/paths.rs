//! Where does each source go, with which of its parents?

use super::Twins;

#[test]
fn sources_and_destinations_of_every_form_meet_where_stock_lets_them() {
    Twins::of(
        "tree src; mkdir dst; mk file; tree second; mk second/one 'of the second'; mk second/added",
    )
    .check(&[
        "rsync -ai src/one dst/renamed",
        "rsync -ai src/one dst/",
        "rsync -ai src/one nothing/renamed",
        "rsync -ai src/one nothing/deeper/",
        "rsync -ai src/one file",
        "rsync -ai src/one file/",
        "rsync -ai src/one .",
        "rsync -ai src/link dst",
        "rsync -ai src/link dst/renamed",
        "rsync -ai src/dir dst/renamed",
        "rsync -ai src/dir/ dst/renamed",
        "rsync -ai src/dir/. dst",
        "rsync -ai src/dir/.. dst",
        "rsync -ai src/. dst",
        "rsync -ai src//dir///deep dst//",
        "rsync -ai ./src/./dir dst",
        "rsync -ai src/one src/dir dst",
        "rsync -ai src/one src/dir nothing",
        "rsync -ai src/one src/dir file",
        "rsync -ai src/ second/ dst",
        "rsync -ai second/ src/ dst",
        "rsync -ai src/one second/one dst",
        "rsync -ai src/dir second/dir dst",
        "rsync -ai src/one src/one dst",
        "rsync -ai src/ src/dir dst",
        "cd src && rsync -ai . ../dst",
        "cd src && rsync -ai ./ ../dst",
        "cd src/dir && rsync -ai .. ../../dst",
        "rsync -ai src/ src/inside",
        "rsync -ai src/ src",
        "rsync -ai src dst/deeper/still",
        "rsync -ai --mkpath src dst/deeper/still",
        "rsync -ai --mkpath src/one dst/deeper/still",
        "rsync -ai --mkpath src/one dst/deeper/still/",
        "rsync -avi --mkpath src/ dst/deeper/still/",
        "rsync -ain --mkpath src/one dst/deeper/still/",
        "rsync -ai --mkpath src/one file/still/",
        "rsync -ai --mkpath --no-mkpath src/one dst/deeper/still/",
        "rsync -ai src/* dst",
        "rsync -ai src/d*/ dst",
        "rsync -ai src/dir/ src/one dst",
        "rsync -ai file dst/a:b",
        "rsync -ai file ./a:b",
        "mk a:b :: rsync -ai ./a:b dst",
        "mk a:b :: rsync -ai $PWD/a:b dst",
        "ln -s dst to :: rsync -ai src/ to",
        "ln -s dst to :: rsync -ai src/ to/",
        "ln -s dst to :: rsync -ai src/one to",
        "ln -s src from :: rsync -ai from dst",
        "ln -s src from :: rsync -ai from/ dst",
        "ln -s nowhere to :: rsync -ai src/ to",
        "ln -s nowhere to :: rsync -ai src/one to",
        "ln -s file to :: rsync -ai src/one to",
        "rsync -ai --old-d src/one src/dir dst",
        "rsync -dai --no-r src/ dst",
        "rsync -ai src/empty/ dst",
        "rsync -ai src/one dst --",
        "rsync src/one dst -ai",
        "rsync -ai -- src/one dst",
    ]);
}

#[test]
fn relative_paths_take_their_parents_along_as_stock_does() {
    let set_up =
        "tree src; mkdir dst; chmod 711 src/dir; ln -s dir src/alias; chown 5:6 src/dir/deep";
    Twins::of(set_up).check(&[
        "rsync -aiR src/dir/two dst",
        "rsync -aiR src/dir/deep/ dst",
        "rsync -aiR src/./dir/two dst",
        "rsync -aiR src/dir/./deep/big dst",
        "rsync -aiR ./src/one dst",
        "first rsync -aiR src/dir/../one dst",
        "first rsync -aiR ../here/src/one dst",
        "rsync -aiR src/one src/dir/two src/other/ dst",
        "rsync -aiR src/./one src/./dir/two dst",
        "rsync -aiR $PWD/./src/dir/deep dst",
        "rsync -aiR --no-implied-dirs src/dir/deep/big dst",
        "mkdir -p dst/src/dir; chmod 700 dst/src/dir :: rsync -aiR --no-implied-dirs src/dir/deep/big dst",
        "mkdir -p dst/src/dir; chmod 700 dst/src/dir :: rsync -aiR src/dir/deep/big dst",
        "rsync -aiR src/alias/two dst",
        "rsync -aiR src/alias/deep/ dst",
        "rsync -aiR --no-implied-dirs src/alias/two dst",
        "mkdir -p dst/src/real; ln -s real dst/src/dir :: rsync -aiR src/dir/two dst",
        "mkdir -p dst/src/real; ln -s real dst/src/dir :: rsync -aiRK src/dir/two dst",
        "mkdir -p dst/src/real; ln -s real dst/src/dir :: rsync -aiR --no-implied-dirs src/dir/two dst",
        "rsync -aiR --delete src/dir/ dst",
        "mk dst/src/x; mk dst/src/dir/y :: rsync -aiR --delete src/dir dst",
        "mk dst/src/x; mk dst/src/dir/y :: rsync -aiR --delete src/./dir dst",
        "rsync -rR src/dir/two dst",
        "rsync -R src/dir/two dst",
        "rsync -dR src/dir/ dst",
        "rsync -aiR --no-R src/dir/two dst",
        "rsync -aiR src/nothing/x src/one dst",
        "rsync -aiR src/one dst/new",
        "rsync -aiR src/one dst/new/deep",
        "rsync -aiR --mkpath src/one dst/new/deep",
        "rsync -aiRm src/ dst",
        "rsync -aiRL src/alias/ dst",
        "rsync -aivvR src/dir/deep dst",
        "rsync -aiR --no-i-r src/dir/two src/one dst",
    ]);
}

#[test]
fn lists_of_files_name_what_stock_takes() {
    let set_up = "tree src; mkdir dst; printf 'one\\n# no\\n; no\\n\\ndir/two\\nother/\\nempty\\n' >list; printf 'one\\0dir/two\\0' >list0
        printf '/one\\n../src/link\\n./dir/deep\\n' >odd; printf 'dir\\n' >dirs; printf 'one\\r\\ndir/two\\r\\n' >crlf; printf 'dir/two' >noend; : >none
        printf 'dir/./deep/big\\n' >dotted; mk src/#hash; printf '#hash\\none\\n' >hash; printf 'one\\none\\ndir/two\\ndir\\n' >twice";
    Twins::of(set_up).check(&[
        "rsync -ai --files-from=list src dst",
        "rsync -ai --files-from=list src/ dst/",
        "rsync -ai --files-from=list src new",
        "rsync -ari --files-from=list src dst",
        "rsync -ai --no-R --files-from=list src dst",
        "rsync -ai --no-d --files-from=list src dst",
        "rsync -ai --files-from=- src dst <list",
        "rsync -ai -0 --files-from=list0 src dst",
        "rsync -ai --from0 --files-from=- src dst <list0",
        "rsync -ai --files-from=odd src dst",
        "rsync -ai --files-from=dirs src dst",
        "rsync -ari --files-from=dirs src dst",
        "rsync -ai --files-from=crlf src dst",
        "rsync -ai --files-from=noend src dst",
        "rsync -ai --files-from=none src dst",
        "rsync -ai --files-from=dotted src dst",
        "rsync -ai --files-from=hash src dst",
        "rsync -ai --files-from=twice src dst",
        "rsync -ai --files-from=nothing src dst",
        "rsync -ai --files-from=list src/one src/dir dst 2>usage; code=$?; rm usage; exit $code",
        "first rsync -ai --files-from=list nothing dst",
        "rsync -ai --files-from=list --exclude=two src dst",
        "rsync -ai --files-from=list --delete src dst",
        "mk dst/dir/x; mk dst/other/y :: rsync -ari --files-from=list --delete src dst",
        "rsync -ai --files-from=list --no-implied-dirs src dst",
        "rsync -aim --files-from=list src dst",
        "rsync -av --files-from=list src dst",
        "rsync -a --stats --files-from=list src dst",
        "rsync -ai --files-from=list --files-from=dirs src dst",
        "rsync -ai --files-from=list --remove-source-files src dst",
    ]);
    Twins::of(set_up).far().check(&[
        "rsync -ai --files-from=list src far:dst",
        "rsync -ai --files-from=:list src far:dst",
        "rsync -ai --files-from=far:list src far:dst",
        "rsync -ai --files-from=- src far:dst <list",
        "rsync -ai -0 --files-from=:list0 src far:dst",
        "rsync -ari --files-from=dirs src far:dst",
    ]);
    Twins::of(set_up).far().in_any_order().check(&[
        "rsync -ai --files-from=list far:src dst",
        "rsync -ai --files-from=:list far:src dst",
        "rsync -ai --files-from=:odd far:src dst",
        "rsync -ai -0 --files-from=list0 far:src dst",
        "rsync -ai --files-from=- far:src dst <noend",
        "rsync -ai --files-from=:nothing far:src dst",
        "rsync -ari --files-from=twice far:src dst",
    ]);
}

#[test]
fn paths_up_to_the_longest_and_one_beyond_end_as_stock_ends_them() {
    // The longest path has 4094 bytes.
    Twins::of("tree src; mkdir dst").check(&[
        "dig src 75; rsync -a src/ dst >out 2>err; code=$?; told_deep; exit $code",
        "dig src 78; rsync -a src/ dst >out 2>err; code=$?; told_deep; exit $code",
        "dig src 79; rsync -a src/ dst >out 2>err; code=$?; told_deep; exit $code",
        "dig src 80; rsync -av src/ dst >out 2>err; code=$?; told_deep; exit $code",
        "dig src 90; rsync -a --no-i-r src/ dst >out 2>err; code=$?; told_deep; exit $code",
        "dig src 75; rsync -aR src/ dst >out 2>err; code=$?; told_deep; exit $code",
        "dig src 78; dig dst 70; rsync -a --delete src/ dst >out 2>err; code=$?; told_deep; exit $code",
        "n=$(printf %0255d 0); mk src/$n/$n/x; rsync -ai src/ dst; rsync -aibI src/ dst; rsync -aibI --suffix=.bak src/ dst",
    ]);
}

#[test]
fn a_sender_that_lists_what_was_not_asked_for_is_refused_unless_it_is_trusted() {
    let set_up = "tree src; mkdir dst
        cat >lie <<'END'
#!/bin/sh
for word; do shift; set -- \"$@\" \"$(printf %s \"$word\" | sed s,src/one,src/dir,)\"; done
exec \"$@\"
END
        chmod +x lie";
    Twins::of(set_up).far().in_any_order().check(&[
        "RSYNC_RSH=\"./lie $RSYNC_RSH\" rsync -ai far:src/one dst",
        "RSYNC_RSH=\"./lie $RSYNC_RSH\" rsync -aiR --no-i-r far:src/one dst",
        "RSYNC_RSH=\"./lie $RSYNC_RSH\" rsync -ai --trust-sender far:src/one dst",
        "rsync -ai --exclude=one far:src/one new",
    ]);
}
