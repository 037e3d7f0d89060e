//! What do `--help` and `--version` print?
