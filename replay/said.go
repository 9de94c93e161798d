package replay

import (
	"encoding/binary"
	"encoding/json"
	"runtime"
	"strings"
	"sync"

	"reprise/trace"
)

// Said is the text of an answer, kept so that its tokens can be counted once the
// run is over. Each text is the inside of a JSON string, its escapes as they
// came: to undo them costs time that a run does not have. The texts of content,
// reasoning and tool calls are apart, and so are those of several choices, since
// no token spans two of them.
type Said struct {
	Content, Reasoning, Tool []byte
	More                     []Said // of the choices after the first; none of these has any
}

// Choice returns the texts of a choice by its index in the answer, from 0. An
// index of the server's that is none of maxChoices is taken for the first.
func (s *Said) Choice(index int32) *Said {
	if index <= 0 || index >= maxChoices {
		return s
	}
	for int(index) > len(s.More) {
		s.More = append(s.More, Said{})
	}
	return &s.More[index-1]
}

// maxChoices bounds what an answer is made room for; OpenAI takes n up to 128.
const maxChoices = 1024

// texts returns the texts without escapes.
func (s *Said) texts() []string {
	var out []string
	for _, b := range [][]byte{s.Content, s.Reasoning, s.Tool} {
		if len(b) > 0 {
			out = append(out, unescaped(b))
		}
	}
	return out
}

func unescaped(b []byte) string {
	s := string(b)
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var out string
	if json.Unmarshal([]byte(`"`+s+`"`), &out) != nil {
		return s
	}
	return out
}

// attempt names one request of a run.
type attempt struct {
	point, repeat int32
	row           int64
}

// appendSaid appends the texts of one choice of an answer: each has a record.
func appendSaid(b []byte, r *Result, s *Said) []byte {
	b = binary.AppendVarint(b, int64(r.Point))
	b = binary.AppendVarint(b, int64(r.Repeat))
	b = binary.AppendVarint(b, r.Row)
	for _, t := range [][]byte{s.Content, s.Reasoning, s.Tool} {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	return b
}

func decodeSaid(rec []byte) (attempt, Said, error) {
	c := &cursor{b: rec}
	a := attempt{point: int32(c.int()), repeat: int32(c.int()), row: c.int()}
	s := Said{Content: []byte(c.string()), Reasoning: []byte(c.string()), Tool: []byte(c.string())}
	return a, s, c.end()
}

// batch is how many answers are counted at a time.
const batch = 512

// counted fills in OutLocal of results from the texts in the spool.
func (ix *index) counted(count func(text string) int) error {
	if count == nil || len(ix.said) == 0 {
		return nil
	}
	ix.local = make(map[attempt]int32, len(ix.said))
	type job struct {
		a    attempt
		said Said
	}
	var mu sync.Mutex
	var first error
	work := make(chan []job, 4)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for jobs := range work {
				for _, j := range jobs {
					n := 0
					for _, t := range j.said.texts() {
						n += count(t)
					}
					mu.Lock()
					ix.local[j.a] += int32(n) // of all choices
					mu.Unlock()
				}
			}
		})
	}
	var jobs []job
	for _, p := range ix.said {
		buf := make([]byte, p.n)
		_, err := ix.file.ReadAt(buf, p.at)
		if err == nil {
			var j job
			if j.a, j.said, err = decodeSaid(buf); err == nil {
				jobs = append(jobs, j)
			}
		}
		if err != nil {
			first = err
			break
		}
		if len(jobs) == batch {
			work <- jobs
			jobs = nil
		}
	}
	work <- jobs
	close(work)
	wg.Wait()
	return first
}

// count gives a result its local count, where its text was kept.
func (ix *index) count(r *Result) {
	if n, ok := ix.local[attempt{r.Point, r.Repeat, r.Row}]; ok {
		r.OutLocal = trace.Some(n)
	}
}
