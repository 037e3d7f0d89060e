//! What is deleted, when, and what is spared?

use super::Twins;

#[test]
fn every_kind_of_deletion_removes_what_stock_removes() {
    Twins::of(
        "tree src; older dst; mk dst/dir/extra; mk dst/dir/deep/extra; mkdir -p dst/empty/in",
    )
    .check(&[
        "rsync -ai --del src/ dst",
        "rsync -ai --delete src/ dst",
        "rsync -ai --delete-before src/ dst",
        "rsync -ai --delete-during src/ dst",
        "rsync -ai --delete-delay src/ dst",
        "rsync -ai --delete-after src/ dst",
        "rsync -av --delete-before src/ dst",
        "rsync -av --delete-after src/ dst",
        "rsync -avv --delete src/ dst | sort",
        "rsync -ain --delete src/ dst",
        "rsync -ain --delete-after src/ dst",
        "rsync -di --delete src/ dst",
        "rsync -ri --delete src dst",
        "rsync -ai --delete src/dir src/other dst",
        "rsync -ai --delete src/dir/ src/other/ dst",
        "rsync -ai --delete src/one dst",
        "rsync -a --delete --stats src/ dst",
        "rsync -a --delete --max-delete=2 -i src/ dst",
        "rsync -a --delete --max-delete=0 -i src/ dst",
        "rsync -a --delete --max-delete=-1 -i src/ dst",
        "rsync -a --delete --max-delete=100 -i src/ dst",
        "rsync -a --delete-after --max-delete=2 -v src/ dst",
        "rsync -a --max-delete=1 src/ dst",
        "rsync -ai --delete --existing --ignore-existing src/ dst",
        "rsync -ai --delete -R src/./ dst",
        "rsync -aiR --delete src/dir dst",
        "rsync -ai --delete nothing/ dst",
        "rsync -ai --delete src/ nothing/ dst",
        "rsync -ai --delete --ignore-errors src/ nothing/ dst",
        "rsync -ai --delete --delete-missing-args src/nothing src/one dst",
        "rsync -i --delete src/ dst",
        "rsync -li --delete src/ dst",
        "rsync -ai --delete --force src/ dst",
        "rsync -ai --delete --size-only src/ dst",
        "rsync -aib --delete src/ dst",
        "rsync -aib --suffix=.o --delete src/ dst",
        "rsync -ai --backup-dir=kept -b --delete src/ dst",
        "rsync -ai --delete --no-inc-recursive src/ dst",
        "rsync -ai --delete --no-delete src/ dst",
        "rsync -ai --delete --delete-excluded --exclude='*.o' src/ dst",
        "rsync -ai --delete-before --delete-after src/ dst",
        "rsync -ai --delete-during --delete-excluded --delete-delay src/ dst",
        "chmod 0 dst/gonedir :: rsync -ai --delete src/ dst",
    ]);
}

#[test]
fn filters_decide_what_a_deletion_spares() {
    Twins::of("tree src; older dst; mk dst/dir/extra.o; mk dst/keep.me; mk dst/dir/keep.me").check(&[
        "rsync -ai --delete --exclude='*.o' src/ dst",
        "rsync -ai --delete --delete-excluded --exclude='*.o' src/ dst",
        "rsync -ai --delete-excluded --exclude='*.o' src/ dst",
        "rsync -ai --delete --filter='P *.me' src/ dst",
        "rsync -ai --delete --filter='protect /keep.me' src/ dst",
        "rsync -ai --delete --filter='R keep.me' --filter='P *.me' src/ dst",
        "rsync -ai --delete --filter='risk /keep.me' --filter='P *.me' src/ dst",
        "rsync -ai --delete --filter='H *.o' src/ dst",
        "rsync -ai --delete --filter='S *.o' --filter='H *' src/ dst",
        "rsync -ai --delete --filter='-s *.o' src/ dst",
        "rsync -ai --delete --filter='-r *.o' src/ dst",
        "rsync -ai --delete --filter='-p dir' src/ dst",
        "rsync -ai --delete --filter='-p gonedir' src/ dst",
        "rsync -ai --delete --exclude=gonedir src/ dst",
        "rsync -ai --delete --exclude=inner src/ dst",
        "rsync -ai --delete --exclude=inner --force src/ dst",
        "rsync -ai --delete --include='*/' --include='*.o' --exclude='*' src/ dst",
        "rsync -ai --delete --delete-excluded --include='*/' --include='*.o' --exclude='*' src/ dst",
        "printf -- '- *.o\\n' >src/.rules; cp -p src/.rules dst :: rsync -ai --delete -F --filter=': .rules' src/ dst",
        "printf -- '- *.me\\n' >dst/.rsync-filter :: rsync -ai --delete-after -F src/ dst",
        "printf -- '- *.me\\n' >src/.rsync-filter :: rsync -ai --delete-after -FF src/ dst",
        "printf -- '- *.me\\n' >src/.rsync-filter :: rsync -ai --delete-after -F src/ dst",
        "printf -- 'P *.me\\n' >src/.rsync-filter :: rsync -ai --delete -F src/ dst",
        "rsync -ai --delete -m src/ dst",
        "rsync -ai --delete -m --exclude=three.txt src/ dst",
        "rsync -ai --delete --max-size=1k src/ dst",
        "rsync -ai --delete --cvs-exclude src/ dst",
        "rsync -ai --delete -C --delete-excluded src/ dst",
    ]);
}

#[test]
fn arguments_that_are_missing_are_treated_as_stock_treats_them() {
    Twins::of("tree src; older dst").check(&[
        "rsync -ai src/nothing dst",
        "rsync -ai src/nothing src/one dst",
        "rsync -ai --ignore-missing-args src/nothing src/one dst",
        "rsync -ai --ignore-missing-args src/nothing dst",
        "rsync -ai --delete-missing-args src/gone src/one dst",
        "rsync -ai --delete-missing-args src/gonedir src/one dst",
        "rsync -ai --delete-missing-args --force src/gonedir src/one dst",
        "rsync -aiR --delete-missing-args src/./other/gone.o src/./one dst",
        "printf 'gone\\none\\nother/gone.o\\n' >list :: rsync -ai --delete-missing-args --files-from=list src dst",
        "printf 'gone\\none\\nother/gone.o\\n' >list :: rsync -ai --ignore-missing-args --files-from=list src dst",
        "printf 'gone\\none\\nother/gone.o\\n' >list :: rsync -ai --files-from=list src dst",
        "rsync -ain --delete-missing-args src/gone src/one dst",
    ]);
}

#[test]
fn what_stands_in_the_way_goes_only_when_stock_lets_it_go() {
    Twins::of("tree src; mkdir dst").check(&[
        "mk dst/one/in/side :: rsync -ai src/ dst",
        "mk dst/one/in/side :: rsync -ai --force src/ dst",
        "mk dst/one/in/side :: rsync -ai --delete src/ dst",
        "mkdir dst/one :: rsync -ai src/ dst",
        "mkdir dst/one :: rsync -a src/one dst",
        "mk dst/link/in/side :: rsync -ai src/ dst",
        "mk dst/link/in/side :: rsync -ai --force src/ dst",
        "mk dst/dir :: rsync -ai src/ dst",
        "mk dst/empty :: rsync -ain src/ dst",
        "ln -s other dst/dir :: rsync -ai src/ dst",
        "mkdir dst/other; ln -s other dst/dir :: rsync -aiK src/ dst",
        "mkfifo dst/one :: rsync -ai src/ dst",
        "mkfifo src/fifo; mk dst/fifo :: rsync -ai src/ dst",
        "mkfifo src/fifo; mk dst/fifo/x :: rsync -ai src/ dst",
        "mk dst/one/x; mk dst/one/y.o :: rsync -ai --force --exclude='*.o' src/ dst",
        "mk dst/one/x :: rsync -aib --force src/ dst",
        "mk dst/one/x :: rsync -aib --delete --backup-dir=kept src/ dst",
        "mk dst/one/x :: rsync -ai --max-delete=0 --delete src/ dst",
        "mk file :: rsync -ai src/ file",
        "mk file :: rsync -ai src/dir file",
        "mk file :: rsync -ai src/one src/link file",
    ]);
}
