//! `--delay-updates`: all files get into their places at once, when all have come.

use std::io::Write;

use super::Generator;
use crate::error::Result;
use crate::trouble::Doing;

impl<W: Write> Generator<'_, W> {
    /// Renames all files that lie finished in the partial dirs.
    pub(super) fn place_delayed_updates(&mut self) -> Result<()> {
        for path in self.rules.delayed.take() {
            self.place_delayed(&path);
            self.speak()?;
        }
        Ok(())
    }

    fn place_delayed(&mut self, path: &[u8]) {
        let site = self.site;
        let (dir_path, name) = site.place(path);
        let Ok(Some(dir)) = self.open_dir(dir_path) else { return };
        let Some(partial) = site.open_partial(&mut self.dirs, dir_path) else { return };
        if dir.stat(name).is_ok()
            && let Err(error) = site.back_up_replaced((&*dir, name), path, self.rules.monitor)
        {
            self.problem(Doing::RENAME, error);
            return;
        }
        if let Err(error) = partial.rename(name, &dir, name) {
            self.problem(Doing::RENAME, error);
        }
        site.leave_partial(&mut self.dirs, dir_path);
    }
}
