//! Are names converted as stock converts them?

use super::Twins;

const NAMES: &str = "mkdir -p src/d dst; touch src/a src/z src/d/$(printf '\\303\\274') \
    src/$(printf '\\303\\251'); ln -s $(printf '\\303\\251') src/l; \
    mkdir mid; touch mid/z mid/$(printf '\\351') mid/$(printf '\\344'); ln -s $(printf '\\351') mid/l";

#[test]
fn names_and_targets_are_converted() {
    Twins::of(NAMES).check(&[
        "rsync -ai --iconv=utf8,latin1 src/ dst",
        "rsync -ai --iconv=utf8 --delete src/ dst",
        "rsync -ai --iconv=. src/ dst",
        "rsync -ai --iconv=- mid/ dst",
        "RSYNC_ICONV=utf8 rsync -ai src/ dst",
        "RSYNC_ICONV=utf8 rsync -ai --no-iconv mid/ dst",
        "rsync -ai --iconv=utf8 --write-batch=b src/ dst; rsync -ai --iconv=utf8 --read-batch=b third; rm b; cat b.sh; rm b.sh",
        "rsync -ai --iconv=utf8 --write-batch=b src/ dst; rsync -ai --read-batch=b third; rm b b.sh",
    ]);
    // Stock looks at names in the order of the directory on the disk.
    Twins::of(NAMES).check(&[
        "rsync -ai --iconv=utf8 mid/ dst 2>&1 | grep -v error: | sort",
        "touch dst/x :: rsync -ai --iconv=utf8 --delete mid/ dst 2>&1 | grep -v error: | sort",
    ]);
    Twins::of(NAMES).far().check(&[
        "rsync -ai --iconv=utf8,latin1 src/ far:dst",
        "rsync -ai --iconv=utf8,latin1 --delete src/ far:dst; rsync -ai --iconv=utf8,latin1 --delete src/ far:dst",
        "rsync -aiR --iconv=utf8,latin1 --no-i-r src/ far:dst",
        "rsync -aiH --iconv=utf8,cp1252 src/d far:dst",
        "rsync -ais --iconv=utf8,latin1 src/ far:dst",
        "rsync -ai --protocol=29 --iconv=utf8,latin1 src/ far:dst",
        "rsync -ai --iconv=utf8,latin1 mid/ far:dst 2>&1 | grep -v error: | sort",
    ]);
    Twins::of(NAMES).far().in_any_order().check(&[
        "rsync -ai --iconv=utf8,latin1 far:mid/ dst",
        "rsync -ai --delete --no-i-r --iconv=utf8,latin1 far:mid/ dst",
        "rsync -aic --iconv=latin1,utf8 far:src/d dst",
    ]);
}
