package spill

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
)

// Key is what records are sorted by, Hi before Lo.
type Key struct{ Hi, Lo uint64 }

func (k Key) compare(o Key) int { return cmp.Or(cmp.Compare(k.Hi, o.Hi), cmp.Compare(k.Lo, o.Lo)) }

func (k Key) less(o Key) bool { return k.Hi < o.Hi || (k.Hi == o.Hi && k.Lo < o.Lo) }

const (
	chunkBytes = 1 << 20
	entryBytes = 24        // of an entry of the index
	fanIn      = 64        // runs of one level that are merged into the next
	runBuffer  = 128 << 10 // bytes that are written or read at once
)

// Sorter puts records in order of key, equal keys in the order of Add.
// It belongs to one goroutine until Finish.
type Sorter struct {
	space  *Space
	memory int

	chunks [][]byte
	spare  [][]byte // chunks of runs that were written
	index  []entry
	bytes  int
	sorted bool
	last   Key

	runs []run // in order of Add; levels never grow
	n    int64
	done bool
}

// entry is where a record is: its length and body stand at chunk and off.
type entry struct {
	key        Key
	chunk, off uint32
}

// NewSorter returns a sorter that keeps up to memory bytes of records and index
// before it writes to the space.
func NewSorter(space *Space, memory int) *Sorter {
	return &Sorter{space: space, memory: memory, sorted: true}
}

// Len returns the number of records.
func (s *Sorter) Len() int64 { return s.n }

// Spilled reports whether records were written to files.
func (s *Sorter) Spilled() bool { return len(s.runs) > 0 }

// Add takes a record; the body is copied, of several parts one behind the other.
func (s *Sorter) Add(k Key, parts ...[]byte) error {
	s.n++
	length := 0
	for _, p := range parts {
		length += len(p)
	}
	need := length + binary.MaxVarintLen64
	if len(s.index) > 0 && s.bytes+need+(len(s.index)+1)*entryBytes > s.memory {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if len(s.chunks) == 0 || len(s.chunks[len(s.chunks)-1])+need > cap(s.chunks[len(s.chunks)-1]) {
		s.grow(need)
	}
	if s.sorted = s.sorted && !k.less(s.last); s.sorted {
		s.last = k
	}
	at := len(s.chunks) - 1
	c := s.chunks[at]
	if n := len(s.index); n == cap(s.index) {
		s.index = slices.Grow(s.index, max(n, 1<<10)) // twice as much, as it is copied each time
	}
	s.index = append(s.index, entry{key: k, chunk: uint32(at), off: uint32(len(c))})
	c = binary.AppendUvarint(c, uint64(length))
	for _, p := range parts {
		c = append(c, p...)
	}
	s.chunks[at] = c
	s.bytes += length + 2
	return nil
}

func (s *Sorter) grow(need int) {
	if n := len(s.spare); n > 0 && need <= cap(s.spare[n-1]) {
		s.chunks, s.spare = append(s.chunks, s.spare[n-1][:0]), s.spare[:n-1]
		return
	}
	s.chunks = append(s.chunks, make([]byte, 0, max(chunkBytes, need)))
}

// body returns the record of an entry.
func (s *Sorter) body(e entry) []byte {
	c := s.chunks[e.chunk][e.off:]
	n, k := binary.Uvarint(c)
	return c[k : k+int(n)]
}

func (s *Sorter) order() {
	if !s.sorted {
		slices.SortFunc(s.index, func(a, b entry) int {
			return cmp.Or(a.key.compare(b.key), cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.off, b.off))
		})
	}
}

// spill writes what is in memory as a run.
func (s *Sorter) spill() error {
	s.order()
	w, err := newRunWriter(s.space)
	if err != nil {
		return err
	}
	for _, e := range s.index {
		if err := w.add(e.key, s.body(e)); err != nil {
			return err
		}
	}
	r, err := w.finish(0)
	if err != nil {
		return err
	}
	for _, c := range s.chunks {
		if cap(c) == chunkBytes {
			s.spare = append(s.spare, c)
		}
	}
	s.index, s.chunks, s.bytes, s.sorted, s.last = s.index[:0], s.chunks[:0], 0, true, Key{}
	s.runs = append(s.runs, r)
	return s.compact()
}

// compact merges the last runs while fanIn of them are of one level.
func (s *Sorter) compact() error {
	for {
		n := len(s.runs)
		if n < fanIn || s.runs[n-fanIn].level != s.runs[n-1].level {
			return nil
		}
		tail := s.runs[n-fanIn:]
		w, err := newRunWriter(s.space)
		if err != nil {
			return err
		}
		r := merge(tail)
		for {
			k, body, err := r.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = w.add(k, body)
			}
			if err != nil {
				return err
			}
		}
		merged, err := w.finish(tail[0].level + 1)
		if err != nil {
			return err
		}
		for _, old := range tail {
			if err := old.file.drop(); err != nil {
				return err
			}
		}
		s.runs = append(s.runs[:n-fanIn], merged)
	}
}

// Finish ends the adding. What was spilled in part is spilled in whole, and its
// memory given back.
func (s *Sorter) Finish() error {
	s.done = true
	if len(s.runs) == 0 {
		s.order()
		return nil
	}
	if len(s.index) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.index, s.chunks, s.spare = nil, nil, nil
	return nil
}

// Close frees memory and files; the sorter cannot be used after that.
func (s *Sorter) Close() error {
	var err error
	for _, r := range s.runs {
		err = cmp.Or(err, r.file.drop())
	}
	s.runs, s.index, s.chunks, s.spare = nil, nil, nil, nil
	return err
}

// Reader reads the records in order, from the first. There may be several.
func (s *Sorter) Reader() *Reader {
	if len(s.runs) > 0 {
		return merge(s.runs)
	}
	return &Reader{memory: s}
}

// run is a file of records in order.
type run struct {
	file  *file
	level int
}

type runWriter struct {
	file *file
	buf  *bufio.Writer
	head []byte
}

func newRunWriter(s *Space) (*runWriter, error) {
	f, err := s.create()
	if err != nil {
		return nil, err
	}
	return &runWriter{file: f, buf: bufio.NewWriterSize(f, runBuffer)}, nil
}

func (w *runWriter) add(k Key, body []byte) error {
	h := binary.LittleEndian.AppendUint64(w.head[:0], k.Hi)
	h = binary.LittleEndian.AppendUint64(h, k.Lo)
	w.head = binary.AppendUvarint(h, uint64(len(body)))
	if _, err := w.buf.Write(w.head); err != nil {
		return err
	}
	_, err := w.buf.Write(body)
	return err
}

func (w *runWriter) finish(level int) (run, error) {
	if err := w.buf.Flush(); err != nil {
		return run{}, err
	}
	return run{file: w.file, level: level}, nil
}
