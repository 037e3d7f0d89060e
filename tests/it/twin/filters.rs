//! Do filter rules of every form, from every place, choose what stock chooses?

use super::Twins;

#[test]
fn rules_on_the_command_line_choose_the_same_files() {
    Twins::of("tree src; mkdir dst; mk src/dir/a.txt; mk src/dir/deep/a.txt; mk src/a.txt; mk src/dir/x.o; mk src/foo/bar/baz; mk src/bar/baz").check(&[
        "rsync -ai --exclude='*.o' src/ dst",
        "rsync -ai --exclude=/one src/ dst",
        "rsync -ai --exclude=/src/one src dst",
        "rsync -ai --exclude=one/ src/ dst",
        "rsync -ai --exclude=dir/ src/ dst",
        "rsync -ai --exclude=dir/deep src/ dst",
        "rsync -ai --exclude=/dir/*.txt src/ dst",
        "rsync -ai --exclude='/dir/**.txt' src/ dst",
        "rsync -ai --exclude='**/deep/a.txt' src/ dst",
        "rsync -ai --exclude='dir/***' src/ dst",
        "rsync -ai --include='foo/***' --exclude='*' src/ dst",
        "rsync -ai --include='/foo/' --include='/foo/bar/' --include='/foo/bar/**' --exclude='*' src/ dst",
        "rsync -ai --exclude='bar/baz' src/ dst",
        "rsync -ai --exclude='/**/baz' src/ dst",
        "rsync -ai --exclude='[a-f]*' src/ dst",
        "rsync -ai --exclude='[!a-f]*' src/ dst",
        "rsync -ai --exclude='[[:alpha:]].txt' src/ dst",
        "rsync -ai --exclude='?.txt' src/ dst",
        "rsync -ai --exclude='t???e.txt' src/ dst",
        "rsync -ai --exclude='.*' src/ dst",
        "rsync -ai --include='*.txt' --include='*/' --exclude='*' src/ dst",
        "rsync -aim --include='*.txt' --include='*/' --exclude='*' src/ dst",
        "rsync -ai -f'- *.o' -f'+ *' src/ dst",
        "rsync -ai -f'-! *.txt' src/ dst",
        "rsync -ai -f'-!,d x' src/ dst",
        "rsync -ai -f'-/ /src/one' src/ dst",
        "rsync -ai -f'-/ here/src/one' src/ dst",
        "rsync -ai -f'exclude,! */' src/ dst",
        "rsync -ai -f'hide *.txt' src/ dst",
        "rsync -ai -f'show a.txt' -f'hide *.txt' src/ dst",
        "rsync -ai -f'include_*.txt' -f'- one' src/ dst",
        "rsync -ai -f'- a.txt' -f'!' src/ dst",
        "rsync -ai -f'clear' -f'- a.txt' src/ dst",
        "rsync -ai -f'-C' src/ dst",
        "rsync -ai -fC src/ dst",
        "rsync -ai -C src/ dst",
        "CVSIGNORE='*.txt one' rsync -ai -C src/ dst",
        "mk src/.cvsignore 'a.txt x.o' :: rsync -ai -C src/ dst",
        "rsync -ai --exclude= src/ dst",
        "rsync -ai -f'x y' src/ dst",
        "rsync -ai -f'-' src/ dst",
        "rsync -ai -f'-q a' src/ dst",
        "rsync -ai -f'merge nothing' src/ dst",
        "rsync -avv --exclude='*.o' --exclude=dir src/ dst",
        "rsync -avvn --include='*.o' --exclude='*' src/ dst",
        "rsync -aix --exclude='*.o' src/ dst",
        "rsync -aiR --exclude=/src/dir/deep src/dir src/foo dst",
        "rsync -aiR --exclude=/dir/deep src/./dir src/./foo dst",
        "rsync -ai --exclude=dir src/dir src/foo dst",
        "rsync -ai --exclude='a\\.txt' src/ dst",
        "rsync -ai --exclude='a\\?txt' src/ dst",
    ]);
}

#[test]
fn rules_in_files_choose_the_same_files() {
    let set_up =
        "tree src; mkdir dst; mk src/dir/a.txt; mk src/dir/deep/a.txt; mk src/a.txt; mk src/dir/x.o
        printf '# a comment\\n\\n*.o\\n; another\\n+ four.o\\n- a.txt\\n' >rules
        printf '*.o\\0+ one\\0a.txt\\0' >rules0
        printf -- '- a.txt\\n' >src/.rules; printf -- '+ a.txt\\n- two\\n' >src/dir/.rules
        printf -- '- *.o\\n' >src/.rsync-filter; printf -- '- /deep/\\n' >src/dir/.rsync-filter";
    Twins::of(set_up).check(&[
        "rsync -ai --exclude-from=rules src/ dst",
        "rsync -ai --include-from=rules --exclude='*' src/ dst",
        "rsync -ai -0 --exclude-from=rules0 src/ dst",
        "rsync -ai --exclude-from=- src/ dst <rules",
        "rsync -ai --exclude-from=nothing src/ dst",
        "rsync -ai -f'merge rules' src/ dst",
        "rsync -ai -f'. rules' src/ dst",
        "rsync -ai -f'.- rules' src/ dst",
        "rsync -ai -f'.e rules' src/ dst",
        "rsync -ai -f'.w rules' src/ dst",
        "rsync -ai -f': .rules' src/ dst",
        "rsync -ai -f'dir-merge .rules' src/ dst",
        "rsync -ai -f':e .rules' src/ dst",
        "rsync -ai -f':n .rules' src/ dst",
        "rsync -ai -f':n- .rules' src/ dst",
        "rsync -ai -f': /.rules' src/dir dst",
        "rsync -ai -f': /.rules' src/dir/ dst",
        "rsync -ai -F src/ dst",
        "rsync -ai -FF src/ dst",
        "rsync -ai -F src/dir dst",
        "rsync -ai -F src/dir/ dst",
        "rsync -aiR -F src/dir/deep dst",
        "printf '!\\n' >src/dir/.rules :: rsync -ai -f': .rules' src/ dst",
        "printf -- '- deep\\n: .inner\\n' >src/dir/.rules; printf -- '- two\\n' >src/dir/.inner :: rsync -ai -f': .rules' src/ dst",
        "printf -- ': .inner\\n' >outer; printf -- '- two\\n' >src/dir/.inner :: rsync -ai -f'. outer' src/ dst",
        "printf -- '- *.o\\r\\n' >crlf :: rsync -ai -f'. crlf' src/ dst",
        "printf -- '- *.o' >noend :: rsync -ai -f'. noend' src/ dst",
        "printf -- 'wrong\\n' >src/dir/.rules :: first rsync -ain -f': .rules' src/ dst",
        "rsync -ai -f':s .rules' src/ dst",
        "rsync -ai --delete -f':s- .rules' src/ dst",
        "rsync -ai -f':C' src/ dst",
        "rsync -aiC -f'- one' src/ dst",
        "mk dst/dir/a.txt; mk dst/dir/deep/z; mk dst/z.o :: rsync -ai --delete -f': .rules' -F src/ dst",
        "mk dst/dir/a.txt; mk dst/dir/deep/z; mk dst/z.o :: rsync -ai --delete-after -f': .rules' -F src/ dst",
    ]);
    Twins::of(set_up).far().check(&[
        "rsync -ai -f': .rules' -F src/ far:dst",
        "mk dst/dir/a.txt; mk dst/z.o; mk dst/q :: rsync -ai --delete -f': .rules' -F --exclude=two src/ far:dst",
        "mk dst/dir/a.txt; mk dst/z.o; mk dst/q :: rsync -ai --delete-excluded -F --exclude=two src/ far:dst",
        "mk dst/q; mk dst/z.o :: rsync -ai --delete -C src/ far:dst",
    ]);
    Twins::of(set_up).far().in_any_order().check(&[
        "rsync -ai -f': .rules' -F far:src/ dst",
        "mk dst/dir/a.txt; mk dst/z.o; mk dst/q :: rsync -ai --delete -f': .rules' -F --exclude=two far:src/ dst",
        "mk dst/q :: rsync -ai --delete --exclude-from=rules -f'P q' far:src/ dst",
        "rsync -aiC far:src/ dst",
        "rsync -aim --include='*/' --include='*.txt' --exclude='*' far:src/ dst",
    ]);
}
