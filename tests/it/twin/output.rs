//! Does every way to be told something tell it in stock's words?
//!
//! Left out: `--info=help` and `--debug=help`, whose texts are our own, and the statistics of
//! malloc that stock prints with `--info=stats3` (docs/rsync-options.md).

use super::Twins;

#[test]
fn a_first_copy_is_told_as_stock_tells_it() {
    Twins::of("tree src; mkdir dst").check(&[
        "rsync -av src/ dst",
        "rsync -av src dst",
        "rsync -av src/ new",
        "rsync -av src/ new/",
        "rsync -av src/one new",
        "rsync -av src/one new/",
        "rsync -avv src/ dst",
        "rsync -ai src/ dst",
        "rsync -aii src/ dst",
        "rsync -avi src/ dst",
        "rsync -avvii src/ dst",
        "rsync -an src/ dst",
        "rsync -anv src/ dst",
        "rsync -ani src/ new",
        "rsync -anvi --stats src/ dst",
        "rsync -a --stats src/ dst",
        "rsync -av --stats src/ dst",
        "rsync -ah --stats src/ dst",
        "rsync -ahh --stats src/ dst",
        "rsync -ahhh --stats src/ dst",
        "rsync -a --no-h --stats src/ dst",
        "rsync -avh src/ dst",
        "rsync -avhh src/ dst",
        "rsync -av --no-h src/ dst",
        "rsync -aq src/ dst",
        "rsync -avq src/ dst",
        "rsync -vvr src/ dst",
        "rsync -v src/ dst",
        "rsync -vr src dst",
        "rsync -vd src/ dst",
        "rsync -avz src/ dst",
        "rsync -avW src/ dst",
        "rsync -avvW src/ dst",
        "rsync -avv --no-W src/ dst",
        "rsync -av8 src/ dst",
        "rsync -av --no-inc-recursive src/ dst",
        "rsync -av --no-i-r --stats src/ dst",
    ]);
}

#[test]
fn an_update_is_told_as_stock_tells_it() {
    Twins::of("tree src; older dst").check(&[
        "rsync -av src/ dst",
        "rsync -ai src/ dst",
        "rsync -aii src/ dst",
        "rsync -aiv --delete src/ dst",
        "rsync -rti src/ dst",
        "rsync -rlti src/ dst",
        "rsync -ri src/ dst",
        "rsync -rii src/ dst",
        "rsync -aic src/ dst",
        "rsync -aiI src/ dst",
        "rsync -ain --delete src/ dst",
        "rsync -av --no-W --stats src/ dst",
        "rsync -aiX src/ dst; rsync -ai src/ dst",
        "rsync -ai --existing src/ dst",
        "rsync -avv --ignore-existing src/ dst",
        "rm dst/one; mkdir dst/one :: rsync -ai src/ dst",
        "rm -r dst/dir; mk dst/dir :: rsync -ai src/ dst",
        "ln -s wrong dst/link :: rsync -ai src/ dst",
        "rm dst/one; ln -s wrong dst/one :: rsync -ai src/ dst",
    ]);
    // A name with the word that it is up to date comes from the generator, others from the sender.
    Twins::of("tree src; older dst").in_any_order().check(&[
        "rsync -avv src/ dst",
        "rsync -avv --existing src/ dst",
        "rsync -avvu src/ dst",
        "rsync -aivv --delete --stats src/ dst | grep -v -e '^  [a-z]*:' -e '^rsync' -e '^$'",
        "rsync -a --info=name2 src/ dst",
        "rsync -a --remove-source-files --info=remove src/ dst",
    ]);
}

#[test]
fn every_escape_of_a_format_is_filled_in_as_stock_does() {
    Twins::of("tree src; older dst; chown 12:34 src/one").check(&[
        "rsync -a --out-format='%n' src/ dst",
        "rsync -a --out-format='%n%L' src/ dst",
        "rsync -a --out-format='%i %n%L' --delete src/ dst",
        "rsync -a --out-format='%f' src/ dst",
        "rsync -a --out-format='%f|%n' src dst",
        "rsync -a --out-format='%o %l %n' --delete src/ dst",
        "rsync -a --out-format='%B %U %G %n' src/ dst",
        "rsync -a --out-format='%M %n' src/ dst",
        "rsync -a --out-format='%t %n' src/ dst",
        "rsync -a --out-format='%b %c %n' --no-W src/ dst | grep -v big",
        "rsync -a --out-format='%C %n' src/ dst",
        "rsync -ac --out-format='%C %n' src/ dst",
        "rsync -a --checksum-choice=md5 --out-format='%C %n' src/ dst",
        "rsync -a --out-format='[%h] [%a] [%m] [%P] [%u] %n' src/ dst",
        "rsync -a --out-format='%10l|%-10l|%n' src/ dst",
        "rsync -a --out-format=\"%'l|%'10l|%''l|%'''l %n\" src/ dst",
        "rsync -a --out-format='%%n %n %' src/ dst",
        "rsync -a --out-format='%q %z %n' src/ dst",
        "rsync -a --out-format='%20n|%-20n|' src/ dst",
        "rsync -a --out-format='' src/ dst",
        "rsync -ai --out-format='%n' src/ dst",
        "rsync -av --out-format='%i-%n' src/ dst",
        "rsync -aii --out-format='%i-%n' src/ dst",
        "rsync -a --log-format='%i %n' src/ dst",
        "rsync -ahh --out-format='%l %n' src/ dst",
        "rsync -an --out-format='%o %i %n %l' --delete src/ dst",
    ]);
}

#[test]
fn levels_of_info_and_debug_are_taken_one_by_one() {
    Twins::of("tree src; older dst").check(&[
        "rsync -a --info=name src/ dst",
        "rsync -a --info=name0 -v src/ dst",
        "rsync -a --info=del --delete src/ dst",
        "rsync -a --info=del0 -v --delete src/ dst",
        "rsync -a --info=flist src/ dst",
        "rsync -a --info=flist0 -v src/ dst",
        "rsync -a --info=stats1 src/ dst",
        "rsync -a --info=stats2 src/ dst",
        "rsync -a --info=stats3 src/ dst | grep -v -e '^  [a-z]*:' -e '^rsync' -e '^$'",
        "rsync -a --info=stats0 -v src/ dst",
        "rsync -a --info=skip -u src/ dst",
        "rsync -a --info=skip2 --existing src/ dst",
        "rsync -a --info=copy src/ dst",
        "rsync -a --info=misc2 src/ dst",
        "rsync -a --info=mount,nonreg src/ dst",
        "rsync -a --info=symsafe --safe-links src/ dst",
        "rsync -r --info=nonreg src/ dst",
        "rsync -r --info=nonreg0 src/ dst",
        "rsync -ab --info=backup src/ dst",
        "rsync -a --info=all0 -v src/ dst",
        "rsync -a --info=none -v src/ dst",
        "rsync -a --info=nosuch src/ dst",
        "rsync -a --info=name9 src/ dst | sort",
        "rsync -a --debug=none src/ dst",
        "rsync -a --debug=nosuch src/ dst",
        "rsync -a --debug=del --delete src/ dst",
        "rsync -a --debug=filter --exclude='*.o' src/ dst",
        "rsync -a --stderr=all -v src/ dst",
        "rsync -a --stderr=errors -v src/ nosuchdir/x",
        "rsync -a --stderr=client -v src/ nosuchdir/x",
        "rsync -a --msgs2stderr -v src/ dst",
        "rsync -a --no-msgs2stderr -v src/ dst",
        "rsync -av --outbuf=N src/ dst",
        "rsync -av --outbuf=L src/ dst",
        "rsync -av --outbuf=Block src/ dst",
        "rsync -av --outbuf=X src/ dst",
    ]);
}

#[test]
fn progress_is_shown_as_stock_shows_it() {
    Twins::of("tree src; mkdir dst").check(&[
        "rsync -a --progress src/ dst",
        "rsync -aP src/ dst",
        "rsync -av --progress src/ dst",
        "rsync -ai --progress src/ dst",
        "rsync -a --no-i-r --progress src/ dst",
        "rsync -a --info=progress src/ dst",
        "rsync -a --info=progress2 --no-i-r src/one dst",
        "rsync -a --info=name,progress src/dir dst",
        "rsync -ah --progress src/ dst",
        "rsync -avq --progress src/ dst",
        "rsync -an --progress src/ dst",
        "rsync -aP --no-progress src/ dst",
    ]);
}

#[test]
fn a_list_is_printed_as_stock_prints_it() {
    let set_up = "tree src; chmod 4711 src/one; chmod 1777 src/empty; mkfifo src/fifo; mknod src/null c 1 3; \
        fill src/million 1234567; age 1965-05-05 src/million; age 2049-01-01 src/fifo";
    Twins::of(set_up).check(&[
        "rsync src",
        "rsync src/",
        "rsync -r src",
        "rsync -r src/",
        "rsync -a src/",
        "rsync --list-only src/",
        "rsync -a --list-only src/ dst",
        "rsync -av src/",
        "rsync -rl --list-only src/dir src/other",
        "rsync src/one",
        "rsync src/one src/link --list-only",
        "rsync -L --list-only src/",
        "rsync -rh --list-only src/",
        "rsync -rhh --list-only src/",
        "rsync -r --no-h --list-only src/",
        "rsync -ac --list-only src/",
        "rsync -U --list-only src/one | wc -l",
        "rsync --list-only src/nothing",
        "rsync -a --list-only --exclude='*.o' src/",
        "rsync -a --list-only --max-size=1k src/",
        "rsync -d src",
        "rsync -d src/",
        "rsync -q -r src/",
        "TZ=Asia/Tokyo rsync src/",
    ]);
    Twins::of(set_up).far().in_any_order().check(&[
        "rsync far:src/",
        "rsync -r far:src",
        "rsync -aq far:src/",
        "rsync -a --list-only far:src/ dst",
    ]);
}

#[test]
fn the_log_file_holds_what_stock_writes() {
    // The log is printed, since its lines hold times and process numbers.
    Twins::of("tree src; older dst").check(&[
        "rsync -a --log-file=log src/ dst; cat log; rm log",
        "rsync -av --delete --log-file=log src/ dst; cat log; rm log",
        "rsync -a --log-file=log --log-file-format='%o %n %l' src/ dst; cat log; rm log",
        "rsync -a --log-file=log --log-file-format='' src/ dst; cat log; rm log",
        "rsync -aii --log-file=log src/ dst; cat log; rm log",
        "rsync -an --log-file=log src/ dst; cat log; rm log",
        "rsync -a --log-file=log nothing/ src/one dst; cat log; rm log",
        "rsync -a --log-file=nosuch/log src/ dst",
        "rsync -a --stats --log-file=log src/ dst >out; cat log; rm log out",
        "rsync -aq --log-file=log src/ dst; rsync -aq --log-file=log src/ dst; cat log; rm log",
    ]);
}

#[test]
fn names_are_escaped_as_stock_escapes_them() {
    let set_up = r#"mkdir src dst; cd src
        for n in "$(printf 'caf\351')" "$(printf '\377\376')" 'ümläut' '日本語' "$(printf 'line\nbreak')" "$(printf 'tab\tx')" \
            "$(printf 'cr\rx')" "$(printf '\001\177')" 'back\slash' 'hash\#123' ' lead' 'trail ' 'a"b' "a'b" '*' '-rf' '[x]' ; do
            echo "$n" >"./$n"; done; mkdir "$(printf 'dir\nectory')"; ln -s "$(printf 'to\nwhere\351')" link; cd .."#;
    Twins::of(set_up).check(&[
        "rsync -av src/ dst",
        "rsync -av8 src/ dst",
        "rsync -ai --8-bit-output src/ dst",
        "LANG=C LC_ALL=C rsync -av src/ dst",
        "rsync -r src/",
        "rsync -a --out-format='%n|%f|%L' src/ dst",
        "rsync -avn --delete dst/ src",
        "rsync -av src/* dst",
        "rsync -av 'src/*' dst",
        "rsync -av src/-rf dst",
        "cd src; rsync -av -- -rf ../dst",
        "rsync -av 'src/[x]' dst",
        "rsync -av --log-file=log src/ dst >out; cat log out; rm log out",
        // Stock looks in the order of the disk, and escapes what its receiver cannot say.
        "rsync -ai --iconv=UTF-8,ISO-8859-1 src/ dst 2>&1 | grep -v error: | sed '/^.Rec/s/: .* (/: (/' | sort",
        "rsync -ai --iconv=. src/ dst 2>&1 | grep -v error: | sort",
        "rsync -av --iconv=- src/ dst",
        "first rsync -anv --iconv=nosuch src/ dst",
    ]);
    Twins::of(set_up).far().check(&[
        "rsync -av src/ far:dst",
        "rsync -av8 src/ far:dst",
        "rsync -av src/ 'far:a name'",
        "rsync -av src/ 'far:d$HOME*?'",
        "rsync -avs src/ 'far:a name'",
        "rsync -av --old-args src/ 'far:a\\ name'",
        "rsync -ai --iconv=UTF-8,ISO-8859-1 src/ far:dst 2>&1 | grep -v error: | sed '/^.Rec/s/: .* (/: (/' | sort",
    ]);
    Twins::of(set_up).far().in_any_order().check(&[
        "rsync -av far:src/ dst",
        "rsync -av 'far:src/*' dst",
        "rsync -av 'far:src/ lead' 'far:src/trail ' dst",
        "rsync -avs 'far:src/ lead' ':src/[x]' dst",
        "rsync -av --old-args 'far:src/*e src/a*' dst",
        "RSYNC_OLD_ARGS=1 rsync -av 'far:src/*e src/a*' dst",
        "RSYNC_PROTECT_ARGS=1 rsync -av 'far:src/*e' dst",
    ]);
}
