package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reprise/trace/strictjson"
)

// LedgerFile is the name of the ledger beside results directories.
const LedgerFile = "ledger.jsonl"

// LedgerLine is one line of the ledger. A run has a line when it starts
// (status running), and one when it ends with the digest of its run.json; a
// run with the first alone was killed or still runs. Prev is the SHA-256 of
// the line before without its newline, empty in the first: a line that is
// taken out or changed breaks the chain.
type LedgerLine struct {
	Prev      string `json:"prev"`
	Results   string `json:"results"` // name of the directory
	Status    Status `json:"status"`
	StartedAt string `json:"started_at"`
	Trace     string `json:"trace_sha256"`
	Spec      string `json:"spec_sha256"`
	URL       string `json:"url"`
	Planned   int64  `json:"planned"`
	Reason    string `json:"abort_reason"`
	Run       string `json:"run_sha256"`
}

func ledgerOf(results string) string { return filepath.Join(filepath.Dir(results), LedgerFile) }

func entry(results string, r *Run, digest string) LedgerLine {
	e := LedgerLine{Results: filepath.Base(results), Status: r.Status, StartedAt: r.StartedAt, Trace: r.Trace.SHA256,
		URL: r.Endpoint.URL, Planned: r.Planned, Reason: r.AbortReason, Run: digest}
	if r.Spec != nil {
		e.Spec = r.Spec.SHA256
	}
	return e
}

// appendLedger adds a line under a lock of the file, so that runs side by side
// keep one chain.
func appendLedger(path string, e LedgerLine) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	defer f.Close()
	if err := lockFile(f); err != nil {
		return fmt.Errorf("locking the ledger: %w", err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("reading the ledger: %w", err)
	}
	e.Prev = lastDigest(data)
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Truncate(int64(len(data))) // half a line would break the chain
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// lastDigest returns the digest of the last line, empty when there is none.
func lastDigest(data []byte) string {
	data = bytes.TrimSuffix(data, []byte("\n"))
	if len(data) == 0 {
		return ""
	}
	return lineDigest(data[bytes.LastIndexByte(data, '\n')+1:])
}

func lineDigest(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// ReadLedger reads a ledger and checks its chain.
func ReadLedger(data []byte) ([]LedgerLine, error) {
	var out []LedgerLine
	prev := ""
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return out, fmt.Errorf("ledger line %d is cut short", n)
		}
		var e LedgerLine
		if err := strictjson.Decode(line, &e); err != nil {
			return out, fmt.Errorf("ledger line %d: %w", n, err)
		}
		if e.Prev != prev {
			return out, fmt.Errorf("ledger line %d does not follow the line above it: a line was changed or taken out", n)
		}
		out, prev, data = append(out, e), lineDigest(line), rest
	}
	return out, nil
}
