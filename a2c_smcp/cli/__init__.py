"""The `a2c` command: a frame (`main`), a table of commands (`table`) and one file per noun."""
