package ingest

import (
	"fmt"
	"slices"
	"strings"

	"reprise/ingest/shape"
	"reprise/ingest/usage"
)

// Recognised is the source that a log was taken for.
type Recognised struct {
	Name string // of the schema; "mapped" when only the user's mapping is used
	Why  string // one line
}

// Found is a source and container among the inputs.
type Found struct {
	Recognised
	Container string
	Files     int // files and entries of archives
}

// Skipped is a file that was left out, or not read to its end when Broken.
type Skipped struct {
	File   string
	Why    string
	Broken bool // it may have held rows that are lost
}

// taken is a source that was recognised, and how its rows are read.
type taken struct {
	Found
	mapping *Mapping
	columns *seen
	votes   usage.Votes      // what the first rows show of what counts include
	has     [numFields]int64 // of the first requests
	shaper  shape.Shaper     // of rows that are no requests by themselves; nil for others
}

// Found lists what was recognised, in order of the inputs. It is complete once
// the records have been read; before that it may lack files of large archives.
func (l *Log) Found() []Found {
	var out []Found
	for _, t := range l.taken {
		out = append(out, t.Found)
	}
	return out
}

// Schema says what the log was taken for, and why; of several sources the names
// are joined.
func (l *Log) Schema() Recognised {
	var out Recognised
	var names []string
	for _, t := range l.taken {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
		if out.Why == "" {
			out.Why = t.Why
		}
	}
	out.Name = strings.Join(names, " + ")
	return out
}

// Skipped lists the files that were left out or broke off, in order. It is
// complete once the records have been read.
func (l *Log) Skipped() []Skipped { return slices.Clone(l.skipped) }

// Broken returns the share of the files that could not be read, or not to their
// end: of how many rows that is, nobody knows.
func (l *Log) Broken() float64 {
	n := 0
	for _, s := range l.skipped {
		if s.Broken {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(max(l.whole+n, 1))
}

func (l *Log) skip(file string, why string, broken bool) {
	why = strings.TrimPrefix(why, file+": ")
	l.skipped = append(l.skipped, Skipped{File: file, Why: why, Broken: broken})
}

// recognise picks the schema for a file's sample and joins it with the user's
// mapping.
func (l *Log) recognise(file string, sample *seen, c container) (*taken, error) {
	best, nearest := sample.recognise(l.known)
	t := &taken{Found: Found{Container: c.name}, mapping: &Mapping{}}
	t.Name, t.Why = "mapped", fmt.Sprintf("%s with the columns given by --map", c.name)
	switch {
	case l.in.Map != nil && l.in.Map.file != nil:
		own := l.in.Map.file
		if why := sample.lacks(own); why != "" {
			return nil, fmt.Errorf("%s: %s; columns seen: %s", file, why, sample.list())
		}
		t.Name, t.mapping = own.name, &own.mapping
		t.Why = fmt.Sprintf("%s with the mapping file of --map", c.name)
	case best != nil:
		t.Name, t.mapping = best.name, &best.mapping
		t.Why = fmt.Sprintf("%s with %s: %s", c.name, sample.met(best), best.about)
	case l.in.Map == nil || len(l.in.Map.Fields) == 0:
		return nil, fmt.Errorf("%s: no known log source; columns seen: %s; %s; name columns with --map field=column",
			file, sample.list(), hint(nearest, l.known))
	}
	if l.in.Map != nil {
		t.mapping = l.in.Map.over(t.mapping)
		if err := l.in.Map.check(sample); err != nil && !t.mapping.deep() {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return l.join(t, sample), nil
}

// join adds a file to the source that it belongs to.
func (l *Log) join(t *taken, sample *seen) *taken {
	i := slices.IndexFunc(l.taken, func(o *taken) bool { return o.Name == t.Name && o.Container == t.Container })
	if i < 0 {
		i = len(l.taken)
		t.columns, t.votes = &seen{names: map[string]int{}}, usage.Votes{}
		t.shaper = t.mapping.shape.NewShaper()
		l.taken = append(l.taken, t)
	}
	t = l.taken[i]
	t.Files++
	if t.mapping.deep() {
		return t // its columns are named when it is studied
	}
	for path, n := range sample.names {
		t.columns.names[path] += n
	}
	t.columns.rows += sample.rows
	return t
}

// hint names the nearest source, if there is one.
func hint(nearest *schema, known []schema) string {
	if nearest != nil {
		return fmt.Sprintf("nearest is %s, which has %s", nearest.name, requirement(nearest))
	}
	return fmt.Sprintf("none of the %d known sources is near", len(known))
}

// Covered returns the fields that the first rows have a column for.
func (l *Log) Covered() []Field {
	var out []Field
	for f := range numFields {
		if slices.ContainsFunc(l.taken, func(t *taken) bool { return t.covers(f) }) {
			out = append(out, f)
		}
	}
	return out
}

func (t *taken) covers(f Field) bool {
	return t.has[f] > 0 || slices.ContainsFunc(t.mapping.Fields[f], func(c Column) bool { return c.Path != "" && t.columns.has(c.Path) })
}

// Several reports whether the log has more than one file, so that a row may be
// there twice.
func (l *Log) Several() bool { return len(l.files) > 1 || len(l.looked) > 1 }
