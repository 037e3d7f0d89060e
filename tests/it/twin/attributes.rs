//! Which attributes travel, and which are made up?

use super::Twins;

#[test]
fn acls_and_extended_attributes_travel_as_stock_carries_them() {
    let set_up = "tree src; mkdir dst; setfattr -n user.short -v blue src/one; setfattr -n user.long -v $(seq -s, 300) src/dir src/one; setfattr -n trusted.t -v t src/dir/two
        setfattr -n user.empty src/dir/deep/big; setfattr -h -n trusted.link -v x src/link; setfacl -m u:12345:rw,g:daemon:r,m::rw src/one; setfacl -m u:nobody:rwx,d:u:54321:rx,d:g::-,d:o::- src/dir
        setfattr -n security.odd -v s src/other/three.txt";
    Twins::of(set_up).check(&[
        "rsync -ai src/ dst",
        "rsync -aiX src/ dst",
        "rsync -aiA src/ dst",
        "rsync -aiAX src/ dst",
        "rsync -avAX src/ dst",
        "rsync -aiAX src/ dst; rsync -aiiAX src/ dst",
        "rsync -ai src/ dst; rsync -aiX src/ dst; rsync -aiA src/ dst",
        "rsync -aX src/ dst; setfattr -n user.short -v green src/one; setfattr -x user.empty src/dir/deep/big; rsync -aiX src/ dst",
        "rsync -aX src/ dst; setfattr -n user.extra -v 1 dst/one; setfattr -n user.long -v $(seq -s, 2 301) dst/one; rsync -aiX src/ dst",
        "rsync -aA src/ dst; setfacl -m u:12345:r src/one; setfacl -k src/dir; rsync -aiA src/ dst",
        "rsync -aA src/ dst; setfacl -b src/one; setfacl -b src/dir; rsync -aiA src/ dst",
        "rsync -aiA --numeric-ids src/ dst",
        "rsync -aiA --usermap=12345:11 --groupmap=daemon:12 src/ dst",
        "rsync -aiA --chmod=F600 src/ dst",
        "rsync -rA src/ dst",
        "rsync -riA --no-p src/ dst",
        "rsync -aiXX src/ dst",
        "rsync -aiX --filter='-x user.s*' src/ dst",
        "rsync -aX src/ dst; setfattr -n user.extra -v 1 dst/one; rsync -aiX --filter='-x user.e*' src/ dst",
        "rsync -aiX --exclude='user.*' src/ dst",
        "rsync -aAX --no-A --no-X -i src/ dst",
        "setfacl -d -m u:7:rwx dst :: rsync -ai src/ dst",
        "setfacl -d -m u:7:rwx dst :: rsync -ri src/ dst",
        "setfacl -d -m u:7:rwx dst :: rsync -aiA src/ dst",
        "rsync -aiX --inplace src/ dst",
        "cp -a src old; setfattr -n user.short -v green old/one :: rsync -aiX --link-dest=../old src/ dst",
        "cp -a src old; setfacl -b old/one :: rsync -aiA --link-dest=../old src/ dst",
        "chmod 777 dst :: nobody rsync -rlptiX src/ dst",
        "chmod 777 dst :: nobody rsync -rlptiA src/ dst",
        "rsync -aiX --stats src/ dst | grep -v 'File list'",
    ]);
    Twins::of(set_up).far().check(&[
        "rsync -aiAX src/ far:dst",
        "rsync -aA src/ far:dst; setfattr -n user.long -v $(seq -s, 2 301) src/one; rsync -aiAX src/ far:dst",
        "rsync -aiAXz --no-i-r src/ far:dst",
        "rsync -aiA --protocol=29 src/ far:dst",
        "rsync -aiAX --protocol=30 src/ far:dst",
        "setfattr -x user.long src/dir :: rsync -aiAX -M--fake-super src/ far:dst",
    ]);
    Twins::of(set_up).far().in_any_order().check(&[
        "rsync -aiAX far:src/ dst",
        "rsync -aX far:src/ dst; setfattr -n user.long -v $(seq -s, 2 301) src/one; rsync -aiX far:src/ dst",
        "rsync -aiAX --protocol=30 far:src/ dst",
        "rsync -aiX --fake-super far:src/ dst",
    ]);
}

#[test]
fn fake_super_keeps_what_it_may_not_set() {
    let set_up = "tree src; mkdir dst; chown 12:34 src/one; chown 5:6 src/dir; chmod 4711 src/dir/two; mknod src/null c 1 3; mknod src/disk b 8 1; mkfifo src/fifo; chown -h 9:9 src/link
        setfattr -n user.x -v y src/one; setfacl -m u:5:rw src/one; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"src/sock\")' 2>/dev/null || true";
    Twins::of(set_up).check(&[
        "rsync -ai --fake-super src/ dst",
        "rsync -aiX --fake-super src/ dst",
        "rsync -aiA --fake-super src/ dst",
        "rsync -aiAX --fake-super src/ dst; rsync -aiiAX --fake-super src/ dst",
        "rsync -aAX -M--fake-super src/ dst; rsync -aiAX src/ dst",
        "rsync -aX --fake-super src/ dst; chown 1:1 src/one; chmod 600 src/dir/two; rsync -aiX --fake-super src/ dst",
        "chmod 777 dst; chmod -R a+rX src; setfattr -h -x user.x src/one :: nobody rsync -ai --fake-super src/ dst",
        "rsync -aX --fake-super src/ dst; rsync --fake-super dst/",
    ]);
    Twins::of(set_up).far().check(&[
        "rsync -aAX -M--fake-super src/ far:dst; rsync -aiAX -M--fake-super src/ far:dst",
        "rsync -aX --rsync-path='rsync --fake-super' src/ far:dst",
    ]);
    Twins::of(set_up).far().in_any_order().check(&[
        "rsync -aAX -M--fake-super src/ far:dst; rsync -aAX -M--fake-super far:dst/ back",
        "rsync -aAX -M--fake-super src/ far:dst; rsync -aAXi -M--fake-super far:dst/ src",
    ]);
}

#[test]
fn times_of_access_and_special_files_go_as_stock_lets_them() {
    let set_up = "tree src; mkdir dst; touch -a -d '2022-02-02 10:10:10.25' src/one src/dir/two; touch -a -d '2030-01-01' src/dir/deep/big";
    Twins::of(set_up).with_atimes().check(&[
        "rsync -aiU src/ dst",
        "rsync -aiUU src/ dst",
        "rsync -aU src/ dst; rsync -aiU src/ dst",
        "rsync -aiU --open-noatime src/ dst",
        "rsync -ai --open-noatime src/ dst",
        "rsync -a src/ dst; rsync -aiiU src/ dst",
    ]);
    let special = "tree src; mkdir dst; mkfifo src/fifo; mknod src/null c 1 3; mknod src/disk b 259 70000; chmod 640 src/fifo src/null; age 1955-05-05 src/one; age 2100-01-01 src/dir/two; age 1969-12-31T23:59:59 src/empty";
    Twins::of(special).check(&[
        "rsync -ai src/ dst",
        "rsync -ri src/ dst",
        "rsync -rlti --devices src/ dst",
        "rsync -rlti --specials src/ dst",
        "rsync -ai --no-devices src/ dst",
        "rsync -ai --no-specials src/ dst",
        "rsync -aiN src/ dst",
        "rsync -ai --crtimes src/ dst",
        "rsync -rD src/ dst",
        "rsync -ai src/ dst; rm dst/null; mknod dst/null c 1 5; rsync -ai src/ dst",
        "rsync -ai src/ dst; chmod 600 dst/fifo; age 2001-01-01 dst/null; rsync -ai src/ dst",
        "rsync -ai --copy-devices src/fifo src/one dst",
        "chmod 777 dst :: nobody rsync -ai src/ dst",
        "mk dst/null; mk dst/fifo :: rsync -ai src/ dst",
        "rsync -ai --write-devices src/one dst",
        "mknod dst/zero c 1 5 :: rsync -ai --write-devices src/one dst/zero",
        "rsync -ai src/null dst",
        "rsync -rti src/null dst",
        "rsync -t --list-only src/null src/disk src/fifo",
    ]);
}
