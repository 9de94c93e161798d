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
// run is over. Each field is the inside of a JSON string, its escapes as they
// came: to undo them costs time that a run does not have. The texts of content,
// reasoning and tool calls are apart, since no token spans two of them.
type Said struct {
	Content, Reasoning, Tool []byte
}

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

func appendSaid(b []byte, r *Result) []byte {
	b = binary.AppendVarint(b, int64(r.Point))
	b = binary.AppendVarint(b, int64(r.Repeat))
	b = binary.AppendVarint(b, r.Row)
	for _, t := range [][]byte{r.Said.Content, r.Said.Reasoning, r.Said.Tool} {
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
					ix.local[j.a] = int32(n)
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
