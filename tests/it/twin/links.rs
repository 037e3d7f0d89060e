//! What becomes of symlinks and hard links?

use super::Twins;

#[test]
fn symlinks_are_kept_followed_or_mended_as_stock_does() {
    let set_up = "tree src; mkdir dst; mk outside/file; ln -s ../outside/file src/up; ln -s ../outside src/updir; ln -s nowhere src/dangling
        ln -s $PWD/outside/file src/absolute; ln -s ../dir/two src/other/inner; ln -s ../../outside/file src/other/leads-out; ln -s dir src/alias
        ln -s /rsyncd-munged/one src/munged; ln -s a/../../x src/tricky; ln -s . src/self";
    Twins::of(set_up).check(&[
        "rsync -ai src/ dst",
        "rsync -ri src/ dst",
        "rsync -rtL --exclude=self --exclude=munged --exclude=tricky -i src/ dst",
        "rsync -aiL --exclude=self --exclude=dangling src/ dst",
        "rsync -aik src/ dst",
        "rsync -aik --exclude=self src/ dst",
        "rsync -ai --copy-unsafe-links src/ dst",
        "rsync -avv --copy-unsafe-links src/ dst | sort",
        "rsync -ai --safe-links src/ dst",
        "rsync -avv --safe-links src/ dst | sort",
        "rsync -ri --safe-links src/ dst",
        "rsync -ai --munge-links src/ dst",
        "rsync -ai --munge-links src/ dst; rsync -ai --munge-links dst/ back",
        "rsync -ai --munge-links src/ dst; rsync -ai --munge-links src/ dst",
        "rsync -ai --no-munge-links src/ dst",
        "mkdir dst/real; ln -s real dst/dir :: rsync -ai src/ dst",
        "mkdir dst/real; ln -s real dst/dir :: rsync -aiK src/ dst",
        "mkdir dst/real; ln -s real dst/dir; mk dst/real/x :: rsync -aiK --delete src/ dst",
        "mkdir dst/real; ln -s real dst/dir; mk dst/real/x :: rsync -ai --delete src/ dst",
        "ln -s nowhere dst/dir :: rsync -aiK src/ dst",
        "rsync -ai src/alias dst",
        "rsync -ai src/alias/ dst",
        "rsync -aiL src/alias dst",
        "rsync -aik src/alias dst",
        "rsync -ai --links --copy-links --no-l src/one src/link dst",
        "rsync -ai --copy-links src/dangling src/one dst",
        "rsync -ai --copy-dirlinks src/updir dst",
        "rsync -ai src/ dst; ln -sfn other dst/link; ln -sfn longer-than-before dst/up; rsync -ai src/ dst",
        "rsync -ai src/ dst; ln -sfn other src/link; rsync -aiu src/ dst",
        "rsync -aivn --copy-unsafe-links --safe-links src/ dst | sort",
        "rsync -aL --exclude=self --exclude=munged --exclude=tricky --delete -i src/ dst",
        "rsync -aiJ src/ dst; rsync -ai src/ dst",
        "chown -h 7:8 src/link src/dangling :: rsync -ai src/ dst",
        "rsync -d src/link src/alias dst",
        "rsync -dl src/link src/alias dst",
    ]);
}

#[test]
fn hard_links_are_joined_as_stock_joins_them() {
    let set_up = "tree src; mkdir dst; ln src/one src/dir/one-too; ln src/one src/zz; ln src/dir/two src/aa; mk src/many/1; for n in 2 3 4 5; do ln src/many/1 src/many/$n; done
        ln src/many/1 outside; ln src/link src/dir/link-too; mkfifo src/fifo; ln src/fifo src/fifo-too";
    Twins::of(set_up).check(&[
        "rsync -ai src/ dst",
        "rsync -aiH src/ dst",
        "rsync -avH src/ dst",
        "rsync -avvH src/ dst | sort",
        "rsync -aiiH src/ dst",
        "rsync -aH --stats src/ dst",
        "rsync -aiH --no-i-r src/ dst",
        "rsync -aiH src/dir/ dst",
        "rsync -aiH src/dir src/many dst",
        "rsync -aiH src/ dst; rsync -aiiH src/ dst",
        "rsync -ai src/ dst; rsync -aiH src/ dst",
        "rsync -aiH src/ dst; rsync -ai src/ dst",
        "rsync -aiH src/ dst; rm dst/zz; echo new >dst/zz; rsync -aiH src/ dst",
        "rsync -aiH src/ dst; rm dst/one; rsync -aiH src/ dst",
        "rsync -aiH src/ dst; mk src/one changed; rsync -aiH src/ dst",
        "rsync -aiH src/ dst; mk src/one changed; rsync -aiH --inplace src/ dst",
        "rsync -aiH src/ dst; rm src/zz; mk src/zz alone; rsync -aiH src/ dst",
        "rsync -aiH src/ dst; chmod 600 src/one; rsync -aiH src/ dst",
        "rsync -aiH src/ dst; mk src/zz changed; rsync -aibH --delete src/ dst",
        "rsync -aiH --delete-during src/ dst",
        "rsync -aiH --exclude=/one src/ dst",
        "rsync -aiH --delay-updates src/ dst",
        "rsync -aiH --partial-dir=p src/ dst",
        "rsync -aiH --max-size=10 src/ dst",
        "cp -a src old :: rsync -aiH --link-dest=../old src/ dst",
        "cp -a src old :: rsync -aiiH --link-dest=../old src/ dst",
        "cp -a src old :: rsync -aiH --copy-dest=../old src/ dst",
        "cp -a src old; rm old/one :: rsync -aiH --link-dest=../old src/ dst",
        "cp -a src old :: rsync -aiH --compare-dest=../old src/ dst",
        "rsync -aiHn src/ dst",
        "rsync -aiHc src/ dst; mk src/one changed; age 2001-01-01 src/one; rsync -aiHc src/ dst",
        "rsync -aiHu src/ dst",
        "rsync -aiH --ignore-existing src/ dst; rm dst/zz; rsync -aiH --ignore-existing src/ dst",
        "rsync -aiH --existing src/ dst",
        "rsync -aiH --remove-source-files src/ dst",
        "rsync -aiHR src/one src/dir/one-too dst",
        "rsync -aiHX src/ dst",
    ]);
    // A group some of whose members are passed over: nobody may wait for them for ever.
    for order in ["", "--no-i-r"] {
        let cases = [
            format!("mk dst/one old :: rsync -aiH {order} --existing src/ dst"),
            format!("mk dst/dir/one-too old :: rsync -aiH {order} --existing src/ dst"),
            format!("mk dst/dir/one-too old :: rsync -aiH {order} --ignore-existing src/ dst"),
            format!("mk dst/dir/one-too newer :: rsync -aiHu {order} src/ dst"),
            format!(
                "mk dst/dir/x/y :: mv dst/dir dst/many; rsync -aiH {order} --min-size=14 src/ dst"
            ),
            format!("rsync -aiH {order} --safe-links --max-size=12 src/ dst"),
        ];
        Twins::of(set_up).check(&cases.each_ref().map(String::as_str));
    }
    Twins::of(set_up).far().check(&[
        "rsync -aiH src/ far:dst",
        "rsync -aiH --protocol=29 src/ far:dst",
        "rsync -aiH --no-i-r src/ far:dst; mk src/one changed; rsync -aiH src/ far:dst",
    ]);
    Twins::of(set_up).far().in_any_order().check(&[
        "rsync -aiH far:src/ dst",
        "rsync -aiH --protocol=29 far:src/ dst",
        "rsync -aH far:src/ dst; mk src/one changed; rsync -aiH far:src/ dst",
    ]);
}
