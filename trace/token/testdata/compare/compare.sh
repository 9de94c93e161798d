#!/bin/bash
# Installs the fastest exact tokenizers beside this one, checks their ids and
# times all of them on one corpus. Needs Go, Python 3.10 or later, cargo, taskset
# and the package indexes. Nothing is left behind but what the clients cache.
#
#   CORPUS=DIR    mixed.docs of corpus.py, instead of a corpus made here
#   MEGABYTES=48  of the corpus made here
#   ROUNDS=5      CORE=1 CORES=0,1 PREFIX="chrt -r 10" ENCODINGS="o200k_base cl100k_base"
#   WORK=DIR      keeps programs and corpus for the next run
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
if [ -z "${WORK:-}" ]; then
  WORK=$(mktemp -d)
  trap 'rm -rf "$WORK"' EXIT
fi
mkdir -p "$WORK"

if [ ! -x "$WORK/venv/bin/python" ]; then
  packages="tiktoken==0.14.0 bpe-openai==0.1.4 gigatoken==0.10.0 fastokens==0.3.5 numpy django==5.2"
  if command -v uv >/dev/null; then
    uv venv -q "$WORK/venv" && uv pip install -q -p "$WORK/venv/bin/python" $packages
  else
    python3 -m venv "$WORK/venv" && "$WORK/venv/bin/pip" install -q $packages
  fi
fi
python="$WORK/venv/bin/python"

if [ ! -x "$WORK/native" ]; then
  cp -r native "$WORK/crate"
  (cd "$WORK/crate" && CARGO_TARGET_DIR="$WORK/target" cargo build -q --release)
  cp "$WORK/target/release/native" "$WORK/native"
fi
go build -o "$WORK/own" ./own

# The published rank files, as the module tiktoken-go-loader carries them; tiktoken
# looks for them by the SHA-1 of their addresses.
assets=$(go list -m -f '{{.Dir}}' github.com/pkoukk/tiktoken-go-loader)/assets
mkdir -p "$WORK/ranks" "$WORK/cache"
install -m 644 "$assets/cl100k_base.tiktoken" "$assets/o200k_base.tiktoken" "$WORK/ranks"
cp "$WORK/ranks/cl100k_base.tiktoken" "$WORK/cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
cp "$WORK/ranks/o200k_base.tiktoken" "$WORK/cache/fb374d419588a4632f3f557e76b4b70aebbca790"

corpus=${CORPUS:-$WORK/corpus}
if [ ! -f "$corpus/mixed.docs" ]; then
  # Documentation in several languages, where Debian's packages can be had.
  mkdir -p "$WORK/text"
  if command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
    for p in debian-handbook debian-reference-zh-cn debian-reference-ja manpages-de manpages-fr manpages-ja manpages-zh manpages-ru \
        libreoffice-help-de libreoffice-help-fr libreoffice-help-ja libreoffice-help-zh-cn libreoffice-help-ko libreoffice-help-ru; do
      (cd "$WORK/text" && apt-get download -q "$p" >/dev/null 2>&1 && dpkg -x "$p"_*.deb "$p" && rm "$p"_*.deb) || echo "no package $p" >&2
    done
  fi
  "$python" -B corpus.py "$corpus" "${MEGABYTES:-48}" "$WORK/text"
fi
"$python" -B compare.py "$corpus" "$WORK"
