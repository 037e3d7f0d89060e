//! Do batches hold what stock puts in them, and do they apply alike?

use super::Twins;

#[test]
fn batches_are_written_and_read_as_stock_does() {
    // A batch file's bytes hold a seed and packets, so it is applied, not compared.
    Twins::of("tree src; older dst; fill dst/dir/deep/big 60000; cp -a dst third").check(&[
        "rsync -ai --write-batch=b src/ dst; rsync -ai --read-batch=b third; rm b; cat b.sh; rm b.sh",
        "rsync -ai --only-write-batch=b src/ dst; rsync -ai --read-batch=b third; rm b b.sh",
        "rsync -ai --delete --write-batch=b src/ dst; rsync -ai --delete --read-batch=b third; rm b; cat b.sh; rm b.sh",
        "rsync -aiH --no-W --write-batch=b src/ dst; rsync -aiH --read-batch=b third; rm b b.sh",
        "rsync -aiz --write-batch=b src/ dst; rsync -aiz --read-batch=b third; rm b b.sh",
        "rsync -ai --exclude='*.o' --write-batch=b src/ dst; cat b.sh; rsync -ai --read-batch=b third; rm b b.sh",
        "rsync -ai --write-batch=b src/ dst; sh ./b.sh third; rm b b.sh",
        "rsync -ai --write-batch=b src/ dst; rsync -ai --read-batch=- third <b; rm b b.sh",
        "rsync -ai --write-batch=b src/ dst; rsync -ain --read-batch=b third; rm b b.sh",
        "rsync -ai --write-batch=b src/ dst; rsync -v --stats --read-batch=b third; rm b b.sh",
        "rsync -ain --write-batch=b src/ dst; ls b*; rm -f b b.sh",
        "rsync -ai --read-batch=nothing third",
        "mk junk :: rsync -ai --read-batch=junk third",
        "rsync -ai --write-batch=a --read-batch=b src/ dst",
        "rsync -ai --write-batch=a --only-write-batch=b src/ dst; ls; rm -f a a.sh b b.sh",
        "rsync -ai --write-batch=nosuch/b src/ dst",
        "rsync -ai --read-batch=b src/ dst",
    ]);
    Twins::of("tree src; older dst; older third").far().check(&[
        "rsync -ai --write-batch=b src/ far:dst; rsync -ai --read-batch=b third; rm b b.sh",
        "rsync -ai --only-write-batch=b src/ far:dst; rsync -ai --read-batch=b far:third; rm b b.sh",
    ]);
    Twins::of("tree src; older dst; older third").far().in_any_order().check(&[
        "rsync -ai --write-batch=b far:src/ dst; rsync -ai --read-batch=b third; rm b b.sh",
    ]);
}
