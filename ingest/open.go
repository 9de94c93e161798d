package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"

	"reprise/ingest/loglines"
	"reprise/ingest/source"
	"reprise/trace"
)

// Log is an opened log. Its rows can be read once.
type Log struct {
	ctx     context.Context
	in      Inputs
	known   []schema
	sets    []*loglines.Set
	files   []source.Input
	held    map[int]*source.Source // inputs that can be read only once, as far as they were looked at
	looked  map[string]look        // what is known of a file by its name
	taken   []*taken               // sources found, in order
	skipped []Skipped
	whole   int // files and entries read to their end
	sources []trace.Source
	notes   notes
	twice   twice // times by the clock of Inputs.Zone
	covered [numFields]int64
	met     [numFields]int64 // rows with columns of the user's that the first rows lack
	read    int64            // bytes of the files
	used    bool
}

// look is what looking at a file told.
type look struct {
	container container
	taken     *taken
	skip      bool
}

// maxLook is how many files of folders are looked at before reading begins. The
// rest is looked at when its turn comes.
const maxLook = 200

// Open looks at the start of the inputs: compression, container, columns,
// schema. It fails where an input that was named is empty, binary or unknown,
// where a mapped column is not there, and where no file of a folder is a log.
func Open(ctx context.Context, in Inputs) (*Log, error) {
	if len(in.Paths) == 0 {
		in.Paths = []string{"-"}
	}
	known, err := schemas()
	if err != nil {
		return nil, err
	}
	return openAs(ctx, in, known)
}

// openAs is Open with the sources that are known.
func openAs(ctx context.Context, in Inputs, known []schema) (*Log, error) {
	l := &Log{ctx: ctx, in: in, known: known, held: map[int]*source.Source{}, looked: map[string]look{}}
	l.sets = lineSets(known, in.Map)
	var err error
	if l.files, err = source.Expand(in.Paths); err != nil {
		return nil, err
	}
	if err := l.lookAll(); err != nil {
		l.drop()
		return nil, err
	}
	return l, nil
}

// lookAll looks at the files; of those found in folders only at the first, as
// long as one of them is a log.
func (l *Log) lookAll() error {
	var first error
	found := 0
	for i, in := range l.files {
		if !in.Named {
			if found++; found > maxLook && len(l.taken) > 0 {
				continue
			}
		}
		err := l.look(i)
		switch {
		case l.ctx.Err() != nil:
			return l.ctx.Err()
		case err != nil && (in.Named || source.IsBomb(err)):
			return err
		case err != nil:
			l.leave(in.Path, err)
			if first == nil {
				first = err
			}
		}
	}
	if len(l.taken) == 0 && len(l.files) > 0 {
		return first
	}
	return nil
}

// leave notes that a found file is left out.
func (l *Log) leave(file string, err error) {
	l.looked[file] = look{skip: true}
	l.skip(file, err.Error(), source.IsBroken(err))
}

// drop closes the inputs that are held open.
func (l *Log) drop() {
	for _, s := range l.held {
		s.Drop()
	}
	clear(l.held)
}

// look opens one input, samples it and puts it away again. What cannot be read
// twice (stdin, a pipe, a device) stays open.
func (l *Log) look(i int) error {
	path := l.files[i].Path
	once := path == "-" || !regular(path)
	var progress func(int64)
	if once {
		progress = l.progress
	}
	s, err := l.source(path, progress)
	if err != nil {
		return err
	}
	if kind := s.Archive(); kind != nil {
		err = l.lookInside(s, kind)
	} else {
		_, err = l.lookAt(s)
	}
	if err == nil && once {
		l.held[i] = s
		return nil
	}
	s.Drop()
	return err
}

// lookAt samples a file and remembers what it is.
func (l *Log) lookAt(s *source.Source) (look, error) {
	if k, ok := l.looked[s.Name]; ok {
		return k, nil
	}
	sample, c, err := sampleOf(s, l.known, l.sets)
	if err != nil {
		return look{}, err
	}
	t, err := l.recognise(s.Name, sample, c)
	if err != nil {
		return look{}, err
	}
	if err := l.study(s, c, t); err != nil {
		return look{}, err
	}
	if l.in.Map != nil && t.mapping.deep() {
		if err := l.in.Map.check(t.columns); err != nil {
			return look{}, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	k := look{container: c, taken: t}
	l.looked[s.Name] = k
	return k, nil
}

// regular reports whether a path is a file that can be opened again.
func regular(path string) bool {
	st, err := os.Stat(path)
	return err != nil || st.Mode().IsRegular()
}

// source opens a path.
func (l *Log) source(path string, progress func(int64)) (*source.Source, error) {
	if path == "-" {
		if l.in.Stdin == nil {
			return nil, errors.New("no log is given")
		}
		return source.New(l.ctx, "stdin", l.in.Stdin, l.in.Limits, l.progress)
	}
	return source.Open(l.ctx, path, l.in.Limits, progress)
}

// progress adds to the bytes read and tells the caller.
func (l *Log) progress(n int64) {
	l.read += n
	if l.in.Progress != nil {
		l.in.Progress(l.read)
	}
}
