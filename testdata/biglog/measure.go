package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// measurement is one log and how it is ingested.
type measurement struct {
	name  string
	kind  string
	share int64 // of the size asked for
	args  []string
}

func measurements() []measurement {
	return []measurement{
		{"JSON lines, tokens and blocks", "jsonl", 1, nil},
		{"JSON lines, --tokenizer none", "jsonl", 1, []string{"--tokenizer", "none"}},
		{"Parquet, tokens and blocks", "parquet", 4, nil},
		{"Parquet, --tokenizer none", "parquet", 4, []string{"--tokenizer", "none"}},
		{"Azure CSV, --tokenizer none", "azure", 8, []string{"--tokenizer", "none"}},
	}
}

// measureAll makes each kind of log once and runs what is measured on it.
func measureAll(binary string, size int64, seed uint64, only, dir string) error {
	dir, err := os.MkdirTemp(dir, "biglog-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err = filepath.Abs(binary)
	if err != nil {
		return err
	}
	fmt.Printf("%-32s %10s %9s %8s %8s %10s %9s %9s\n", "", "log", "rows", "s", "MB/s", "rows/s", "peak MiB", "trace")
	var log string
	var rows int64
	made := ""
	for _, m := range measurements() {
		if only != "" && !match(only, m.name) {
			continue
		}
		if kind := fmt.Sprint(m.kind, m.share); kind != made {
			os.Remove(log)
			log = filepath.Join(dir, "log."+m.kind)
			if rows, err = makeLog(log, m.kind, seed, size/m.share); err != nil {
				return err
			}
			made = kind
		}
		if err := measure(binary, dir, log, rows, m); err != nil {
			return err
		}
	}
	return nil
}

func match(only, name string) bool {
	ok, _ := filepath.Match("*"+only+"*", name)
	return ok
}

// makeLog writes a log to a file.
func makeLog(path, kind string, seed uint64, size int64) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	rows, err := writers()[kind](f, seed, size)
	if err != nil {
		return 0, err
	}
	return rows, f.Close()
}

// measure runs the binary on a log and prints a line.
func measure(binary, dir, log string, rows int64, m measurement) error {
	trace := filepath.Join(dir, "out.trace.parquet")
	cmd := exec.Command(binary, append([]string{"ingest", log, "-o", trace}, m.args...)...)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", m.name, err, out)
	}
	took := time.Since(begin).Seconds()
	st, err := os.Stat(log)
	if err != nil {
		return err
	}
	made, err := os.Stat(trace)
	if err != nil {
		return err
	}
	peak := "?"
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = fmt.Sprint(use.Maxrss >> 10) // kilobytes on Linux
	}
	fmt.Printf("%-32s %10s %9d %8.2f %8.0f %10.0f %9s %9s\n", m.name, inBytes(st.Size()), rows, took,
		float64(st.Size())/1e6/took, float64(rows)/took, peak, inBytes(made.Size()))
	return nil
}

// inBytes is a size in a few characters.
func inBytes(n int64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
