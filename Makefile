# Everything a developer runs. Needs Go (the version of go.mod) and nothing
# else; ssh-keygen for signing, Chromium for one test of the report.

export CGO_ENABLED = 0

COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS := -s -w -X main.commit=$(COMMIT)
FUZZTIME ?= 20s

SIZE ?= 1GB

.PHONY: build demo test race bench bench-token bench-ingest bench-replay bench-soak bench-fit conformance fuzz check docs

# The one static binary.
build:
	go build -trimpath -ldflags '$(LDFLAGS)' -o reprise ./cmd/reprise

# The whole chain on the bundled day and the embedded mock engine.
demo: build
	./reprise demo --force

test:
	go test ./...

race:
	CGO_ENABLED=1 go test -race ./...

# Benchmarks with allocations; compare two runs with benchstat.
bench:
	go test -run '^$$' -bench . -benchmem ./...

# Tokenizers against the fastest of Python and Rust: speed and ids on one corpus.
# Needs Python, cargo and the package indexes; see the script for settings.
bench-token:
	trace/token/testdata/compare/compare.sh

# Ingest measured on generated logs of SIZE (10GB takes about five minutes and
# 25 GB of disk in DIR): MB/s, rows/s, most memory.
bench-ingest: build
	go run ./testdata/biglog -measure ./reprise -size $(SIZE) -dir '$(DIR)'

# Fit measured on a generated trace of REQUESTS requests (10 million take about a
# minute and 200 MB of disk in DIR), without prefix blocks and with them.
REQUESTS ?= 10000000
bench-fit: build
	go run ./testdata/bigtrace -n $(REQUESTS) -measure ./reprise -dir '$(DIR)'
	go run ./testdata/bigtrace -n $$(( $(REQUESTS) / 10 )) -blocks -measure ./reprise -dir '$(DIR)'

# The client beside its peers, which it installs: what each adds to TTFT, lateness
# at the server's kernel, saturation, a big trace. PEERS=none for ours alone, FIFO=1
# for a machine with neighbours; see the script for settings. About half an hour.
bench-replay:
	replay/testdata/compare/compare.sh

# Ten minutes at 500 requests a second: all sent, at the planned rate, no growing lag.
bench-soak:
	PEERS=none PARTS=soak replay/testdata/compare/compare.sh

# Replays and refusals at real engines that are up and idle, of which the
# environment names any: VLLM_URL with VLLM_TOKENIZER, the folder of its model, as
# replay/testdata/conformance/model.py makes one; LLAMA_URL with LLAMA_GGUF.
# About two minutes for each engine.
conformance:
	go test -count=1 -v -timeout 30m -run '^TestConformance' ./replay/openai ./cmd/reprise

# Every fuzz target for FUZZTIME each.
fuzz:
	@set -e; for p in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$p; \
	  done; \
	done

# What must hold before a commit.
check:
	@test -z "$$(gofmt -l cmd fit ingest replay sanitize testdata trace)" || { gofmt -l cmd fit ingest replay sanitize testdata trace; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	go mod verify
	go mod tidy -diff
	go test ./...
	@git diff --exit-code --stat -- docs || { echo "run make docs and commit"; exit 1; }

# Man pages of every verb and the command reference.
docs:
	go run ./cmd/reprise docs docs/cli
