//! Which files does a run find to do?

use super::Twins;

#[test]
fn the_quick_check_and_its_rivals_choose_the_same_files() {
    let set_up = "tree src; older dst; mk src/newer 'same size 1'; mk dst/newer 'same size 2'; age '2021-01-01' src/newer
        age '2021-01-02' dst/newer; mk src/second x; mk dst/second y; age '2021-01-01 00:00:00' src/second; age '2021-01-01 00:00:01' dst/second
        mk src/nano x; mk dst/nano y; age '2021-01-01 00:00:00.1' src/nano; age '2021-01-01 00:00:00.2' dst/nano
        for root in src dst; do mk $root/parts same; mk $root/near same; done; age '2021-01-01 00:00:00.1' src/parts src/near
        age '2021-01-01 00:00:00.2' dst/parts; age '2021-01-01 00:00:01.1' dst/near";
    Twins::of(set_up).check(&[
        "rsync -ai src/ dst",
        "rsync -ai --size-only src/ dst",
        "rsync -aiI src/ dst",
        "rsync -aic src/ dst",
        "rsync -aic --checksum-choice=md5 src/ dst",
        "rsync -aic --modify-window=2 src/ dst",
        "rsync -aicn src/ dst",
        "rsync -aic --protocol=29 src/ dst",
        "rsync -aic --cc=xxh64 src/ dst",
        "first rsync -aic --cc=none src/ dst",
        "rsync -aic --cc=nosuch src/ dst",
        "rsync -ai --modify-window=1 src/ dst",
        "rsync -ai --modify-window=-1 src/ dst",
        "rsync -ai -@1 src/ dst",
        "rsync -ai -@-1 src/ dst",
        "rsync -ai --modify-window=100000 src/ dst",
        "rsync -aiu src/ dst",
        "rsync -ai --existing src/ dst",
        "rsync -ai --ignore-non-existing src/ dst",
        "rsync -ai --ignore-existing src/ dst",
        "rsync -ai --existing --ignore-existing src/ dst",
        "rsync -ri src/ dst",
        "rsync -rci src/ dst",
        "rsync -ruit src/ dst",
        "rsync -ri --size-only src/ dst",
        "rsync -aiI --size-only src/ dst",
        "rsync -ai --max-size=10 src/ dst",
        "rsync -ai --max-size=1K src/ dst",
        "rsync -ai --max-size=1.5kb src/ dst",
        "rsync -ai --max-size=12-1 src/ dst",
        "rsync -ai --min-size=12 src/ dst",
        "rsync -ai --min-size=10 --max-size=1000 src/ dst",
        "rsync -ai --max-size=x src/ dst",
        "rsync -ai --max-size=1kk src/ dst",
        "rsync -avv --max-size=1k src/ dst | sort",
        "rsync -ai --max-size=70000 src/ dst",
        "rsync -ai --max-size=69999 src/ dst",
        "rsync -ai --max-alloc=1m src/ dst",
        "rsync -ai --max-alloc=0 src/ dst",
        "rsync -ai --max-alloc=10 src/ dst",
        "rsync -ai --checksum-seed=7 --no-W src/ dst",
        "rsync -ai --block-size=700 --no-W src/ dst",
        "rsync -ai -B 131072 --no-W src/ dst",
        "rsync -ai -B 131073 --no-W src/ dst",
        "rsync -ai -B 0 src/ dst",
        "rsync -ai -B x src/ dst",
        "rsync -an --itemize-changes -c src/ dst",
        "rsync -ai -m src/ dst",
        "rsync -aix src/ dst",
        "rsync -aixx src/ dst",
        "rsync -ai --fsync src/ dst",
        "rsync -ai --bwlimit=10000 src/ dst",
        "rsync -ai --bwlimit=x src/ dst",
        "rsync -ai --timeout=20 --contimeout=5 src/ dst",
        "rsync -ai --stop-after=1 src/ dst",
        "rsync -ai --stop-at=2099-01-01T00:00 src/ dst",
        "rsync -ai --stop-at=2001-01-01T00:00 src/ dst",
        "rsync -ai --time-limit=5 src/ dst",
        "rsync -ai --stop-after=x src/ dst",
    ]);
}

#[test]
fn metadata_alone_is_set_and_told_alike() {
    Twins::of("tree src; cp -a src dst").check(&[
        "rsync -ai src/ dst",
        "rsync -aii src/ dst",
        "chmod 600 src/one; chmod 700 src/dir :: rsync -ai src/ dst",
        "chmod 600 src/one :: rsync -ai --no-p src/ dst",
        "chown 5:6 src/one src/dir; chown -h 5:6 src/link :: rsync -ai src/ dst",
        "age 2001-01-01 src/one src/link src/dir :: rsync -ai --size-only src/ dst",
        "age 2001-01-01 src/one src/link src/dir :: rsync -ai src/ dst",
        "age 2001-01-01 src/one src/link src/dir :: rsync -aiOJ src/ dst",
        "age 2001-01-01 src/one :: rsync -aiW src/ dst",
        "age 2001-01-01 src/one src/dir :: rsync -ain src/ dst",
        "age 2001-01-01 src/one src/dir :: rsync -aic src/ dst",
        "ln -sfn elsewhere src/link :: rsync -ai src/ dst",
        "chmod 600 src/one; chown 5 src/one; age 2001-01-01 src/one :: rsync -rpoi --size-only src/ dst",
        "rsync -ai --chmod=F600,D700 src/ dst",
        "rsync -ai --chmod=u+x src/ dst",
        "rsync -ai --chmod=Fo-r,Dg-x --chmod=a+X src/ dst",
        "rsync -ri --chmod=g=u src/ dst",
        "rsync -ai --chmod=+t,D2775 src/ dst",
        "rsync -ai --chmod=ug=s src/ dst",
        "rsync -ai --chmod=x src/ dst",
        "rsync -ai --chmod=999 src/ dst",
        "rsync -ri --chmod=F600 src/ new",
        "rsync -rpi --chmod=a= src/ new",
    ]);
}
