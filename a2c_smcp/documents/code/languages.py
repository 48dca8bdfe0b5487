"""Which language a file is written in, by its name. Pure."""

from collections.abc import Mapping
from typing import Final

_LANGUAGES: Final = """
python py pyi pyw pyx | javascript js mjs cjs jsx | typescript ts mts cts tsx | java java | kotlin kt kts
scala scala sc | groovy groovy gradle | go go | rust rs | c c h | cpp cc cpp cxx c++ hpp hh hxx h++ ino
csharp cs | fsharp fs fsi fsx | visualbasic vb bas vbs | swift swift | objectivec m mm | ruby rb rake gemspec
php php phtml | perl pl pm | lua lua | r r rmd | julia jl | dart dart | elixir ex exs | erlang erl hrl
haskell hs lhs | ocaml ml mli | elm elm | clojure clj cljs cljc edn | lisp lisp lsp cl el | scheme scm ss rkt
nim nim nims | zig zig | crystal cr | d d di | v v vsh | solidity sol | verilog sv svh vh | vhdl vhd vhdl
fortran f f77 f90 f95 f03 f08 for | pascal pas pp dpr | ada adb ads | assembly asm s | cuda cu cuh
glsl glsl vert frag | hlsl hlsl | wgsl wgsl | tcl tcl | prolog pro | bash sh bash zsh ksh | fish fish
powershell ps1 psm1 psd1 | batch bat cmd | awk awk | sed sed | vim vim vimrc | sql sql ddl dml psql | css css
scss scss sass | less less | stylus styl | vue vue | svelte svelte | astro astro | yaml yaml yml | toml toml
ini ini cfg conf properties editorconfig | xml xml xsd xsl xslt svg plist wsdl rss atom | protobuf proto
thrift thrift | graphql graphql gql | hcl tf tfvars hcl nomad | cmake cmake | make mk mak | bazel bzl | nix nix
dockerfile dockerfile | latex tex sty cls bib ltx | diff diff patch | restructuredtext rst
asciidoc adoc asciidoc
"""

SUFFIXES: Final[Mapping[str, str]] = {
    suffix: language
    for line in _LANGUAGES.strip().split("\n")
    for group in line.split(" | ")
    for language, *suffixes in [group.split()]
    for suffix in suffixes
}
"""The language of each file name ending."""

NAMED: Final[Mapping[str, str]] = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
    "procfile": "yaml",
    "justfile": "make",
    "build.bazel": "bazel",
}
"""The language of files whose whole name tells it."""
