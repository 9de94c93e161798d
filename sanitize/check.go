package sanitize

import (
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"reprise/trace"
	"reprise/trace/token"
)

const (
	// checkTexts is how many texts are counted twice.
	checkTexts = 1000
	// checkBytes is how much of a text, and checkRun how much of it without a
	// break: the reference takes the square of that.
	checkBytes = 1 << 10
	checkRun   = 256
)

// checker samples texts and has them counted by another implementation. Which
// texts it takes follows from the texts alone: those of the lowest hashes.
type checker struct {
	tok  *token.Tokenizer
	open func() (*token.Reference, error) // waits for the reference

	mu    sync.Mutex
	texts []sampled     // sorted by hash once full
	above atomic.Uint64 // hashes from here on are not taken
}

type sampled struct {
	hash uint64
	text string
}

// newChecker returns the checker of an embedded encoding, nil for any other.
// The reference is opened beside the work.
func newChecker(t *token.Tokenizer) *checker {
	if !slices.Contains(token.Names(), t.Name()) {
		return nil
	}
	c := &checker{tok: t}
	c.open = sync.OnceValues(func() (*token.Reference, error) {
		r, _, err := token.OpenReference(t.Name())
		return r, err
	})
	c.above.Store(^uint64(0))
	go c.open()
	return c
}

// offer takes the text if it is among the lowest.
func (c *checker) offer(text string) {
	if text = plainPart(text); text == "" {
		return
	}
	f := fnv.New64a()
	f.Write([]byte(text))
	h := f.Sum64()
	if h >= c.above.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, found := slices.BinarySearchFunc(c.texts, h, func(s sampled, h uint64) int {
		switch {
		case s.hash < h:
			return -1
		case s.hash > h:
			return 1
		}
		return 0
	})
	if found || at >= checkTexts {
		return
	}
	if len(c.texts) == checkTexts {
		c.texts = c.texts[:checkTexts-1]
	}
	c.texts = slices.Insert(c.texts, at, sampled{h, strings.Clone(text)})
	if len(c.texts) == checkTexts {
		c.above.Store(c.texts[checkTexts-1].hash)
	}
}

// plainPart is the beginning of a text up to where the reference would take
// long, or does not know the characters: its tables are those of package unicode
// and not of Unicode 16, and it does not fold the long s.
func plainPart(text string) string {
	text = token.Repair(text[:min(len(text), checkBytes)])
	run, space := 0, false
	for i, r := range text {
		if s := unicode.IsSpace(r); s != space {
			run, space = 0, s
		}
		if run += utf8.RuneLen(r); run > checkRun || r == 'ſ' || r >= utf8.RuneSelf && !known(r) {
			return text[:i]
		}
	}
	return text
}

func known(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co)
}

// result counts the sampled texts by the reference.
func (c *checker) result() (*trace.Check, error) {
	ref, err := c.open()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	texts := slices.Clone(c.texts)
	c.mu.Unlock()
	var next, differ atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(texts)); i = next.Add(1) - 1 {
				if !ref.Agrees(c.tok, texts[i].text) {
					differ.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return &trace.Check{By: token.ReferenceName, Texts: int64(len(texts)), Differ: differ.Load()}, nil
}
