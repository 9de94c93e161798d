package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	kind := flag.String("write", "", "write a log to stdout: jsonl, azure or parquet")
	binary := flag.String("measure", "", "measure this reprise")
	size := flag.String("size", "1GB", "bytes of text, for instance 500MB or 10GB")
	seed := flag.Uint64("seed", 1, "of the log")
	only := flag.String("only", "", "only measurements whose name has this in it")
	dir := flag.String("dir", "", "folder for the logs (default: the system's for temporary files)")
	flag.Parse()
	if err := run(*kind, *binary, *size, *seed, *only, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "biglog:", err)
		os.Exit(1)
	}
}

func run(kind, binary, size string, seed uint64, only, dir string) error {
	n, err := parseSize(size)
	if err != nil {
		return err
	}
	if binary != "" {
		return measureAll(binary, n, seed, only, dir)
	}
	write, ok := writers()[kind]
	if !ok {
		return errors.New("give -write jsonl, azure or parquet, or -measure BINARY")
	}
	_, err = write(os.Stdout, seed, n)
	return err
}

func writers() map[string]func(io.Writer, uint64, int64) (int64, error) {
	return map[string]func(io.Writer, uint64, int64) (int64, error){"jsonl": jsonl, "azure": azure, "parquet": table}
}

// parseSize reads a number of bytes with a decimal unit.
func parseSize(s string) (int64, error) {
	for _, u := range []struct {
		unit string
		n    float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1}} {
		if number, ok := strings.CutSuffix(s, u.unit); ok {
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || v <= 0 {
				return 0, fmt.Errorf("%q is no size", s)
			}
			return int64(v * u.n), nil
		}
	}
	return 0, fmt.Errorf("%q is no size", s)
}
