// Command own encodes a corpus with package token or with tiktoken-go, in the
// way the other workers of the comparison do.
//
//	own PEER ENCODING DOCS THREADS [IDS]
//
// PEER is own, own-count or tiktoken-go. It prints one line of JSON; see worker.py.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"reprise/trace/token"
)

// work encodes one document into the buffer of its goroutine.
type work func(ids []int32, doc string) []int32

func open(peer, encoding string) (work, error) {
	if peer == "tiktoken-go" {
		tiktoken.SetBpeLoader(loader.NewOfflineLoader())
		t, err := tiktoken.GetEncoding(encoding)
		if err != nil {
			return nil, err
		}
		return func(ids []int32, doc string) []int32 {
			for _, id := range t.EncodeOrdinary(doc) {
				ids = append(ids, int32(id))
			}
			return ids
		}, nil
	}
	t, err := token.Open(encoding)
	if err != nil {
		return nil, err
	}
	if peer == "own-count" {
		return func(ids []int32, doc string) []int32 { t.Count(doc); return ids }, nil
	}
	return func(ids []int32, doc string) []int32 { return t.Encode(ids, doc) }, nil
}

func documents(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var docs []string
	for len(data) > 0 {
		n := binary.LittleEndian.Uint32(data)
		docs = append(docs, string(data[4:4+n]))
		data = data[4+n:]
	}
	return docs, nil
}

func residentMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	return kb / 1024
}

// pass encodes every document once, thread t those whose number is t modulo
// threads, and returns the seconds, allocations and allocated bytes of it.
func pass(f work, docs []string, threads int) (seconds float64, mallocs, allocated uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	var wg sync.WaitGroup
	for t := range threads {
		wg.Go(func() {
			ids := make([]int32, 0, 1<<16)
			for i := t; i < len(docs); i += threads {
				ids = f(ids[:0], docs[i])
			}
		})
	}
	wg.Wait()
	seconds = time.Since(start).Seconds()
	runtime.ReadMemStats(&after)
	return seconds, after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

func writeIDs(path string, f work, docs []string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	var ids []int32
	for _, doc := range docs {
		ids = f(ids[:0], doc)
		if err := binary.Write(w, binary.LittleEndian, uint32(len(ids))); err != nil {
			return err
		}
		if err := binary.Write(w, binary.LittleEndian, ids); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 5 {
		log.Fatal("own PEER ENCODING DOCS THREADS [IDS]")
	}
	start := time.Now()
	f, err := open(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	f(nil, "ready")
	load, rss := float64(time.Since(start).Microseconds())/1e3, residentMB()
	docs, err := documents(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	threads, err := strconv.Atoi(os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	cold, _, _ := pass(f, docs, threads)
	warm, mallocs, allocated := pass(f, docs, threads)
	fmt.Printf(`{"load_ms":%.1f,"rss_mb":%.1f,"cold_s":%.6f,"warm_s":%.6f,"allocs_per_doc":%.4f,"alloc_bytes_per_doc":%.1f}`+"\n",
		load, rss, cold, warm, float64(mallocs)/float64(len(docs)), float64(allocated)/float64(len(docs)))
	if len(os.Args) > 5 {
		if err := writeIDs(os.Args[5], f, docs); err != nil {
			log.Fatal(err)
		}
	}
}
