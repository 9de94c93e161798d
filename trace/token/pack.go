//go:build ignore

// Pack turns a published .tiktoken rank file into the form that this package
// embeds: the order of the 256 single bytes, then for every later token the two
// tokens that its last merge joins (see vocab.go). Run by go generate:
//
//	go run pack.go RANKFILE vocab/NAME.zst
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run pack.go RANKFILE OUT")
	}
	tokens, err := readRanks(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	packed, err := pack(tokens)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], packed, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d tokens, %d bytes\n", os.Args[2], len(tokens), len(packed))
}

// readRanks reads "base64 rank" lines, which must be in order of rank.
func readRanks(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var tokens []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		b64, rank, _ := strings.Cut(lines.Text(), " ")
		tok, err := base64.StdEncoding.DecodeString(b64)
		if err != nil {
			return nil, err
		}
		if n, err := strconv.Atoi(rank); err != nil || n != len(tokens) {
			return nil, fmt.Errorf("line %d has rank %q", len(tokens)+1, rank)
		}
		tokens = append(tokens, string(tok))
	}
	return tokens, lines.Err()
}

// pack writes the byte order, then all left halves, then all right halves, each
// id as three little-endian byte planes, compressed.
func pack(tokens []string) ([]byte, error) {
	rank := make(map[string]int, len(tokens))
	for i, t := range tokens {
		rank[t] = i
	}
	var raw []byte
	for i, t := range tokens[:256] {
		if len(t) != 1 {
			return nil, fmt.Errorf("rank %d is not a single byte", i)
		}
		raw = append(raw, t[0])
	}
	var left, right []int
	for i, t := range tokens[256:] {
		a, b, err := lastMerge(rank, t)
		if err != nil {
			return nil, fmt.Errorf("rank %d: %w", i+256, err)
		}
		left, right = append(left, a), append(right, b)
	}
	for _, ids := range [][]int{left, right} {
		for shift := 0; shift < 24; shift += 8 {
			for _, id := range ids {
				raw = append(raw, byte(id>>shift))
			}
		}
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(raw, nil), nil
}

// lastMerge encodes t by rank-ordered merging and returns the two parts that
// remain before t itself appears.
func lastMerge(rank map[string]int, t string) (left, right int, err error) {
	var parts []string
	for i := range len(t) {
		parts = append(parts, t[i:i+1])
	}
	for len(parts) > 2 {
		best, at := len(rank), -1
		for i := range len(parts) - 1 {
			if r, ok := rank[parts[i]+parts[i+1]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return 0, 0, fmt.Errorf("%q is never reached by merging", t)
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	a, b := rank[parts[0]], rank[parts[1]]
	if a >= rank[t] || b >= rank[t] {
		return 0, 0, fmt.Errorf("%q is made of later tokens", t)
	}
	return a, b, nil
}
