package ingest

import (
	"maps"
	"slices"
	"strings"
)

// UnmappedHidden is how many of the columns that no field is taken from Unmapped
// leaves out, because they do not look like names.
func (l *Log) UnmappedHidden() int {
	return len(l.allUnmapped()) - len(l.Unmapped())
}

// Unmapped returns the columns of the first rows that no field is taken from,
// parts of a mapped column left out, in order of name. They are names of the
// customer's: for the customer's eyes.
func (l *Log) Unmapped() []string {
	return slices.DeleteFunc(l.allUnmapped(), func(name string) bool { return !showable(name) })
}

func (l *Log) allUnmapped() []string {
	var out []string
	for _, t := range l.taken {
		out = append(out, t.unmapped()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unmapped lists the columns that no field is taken from and that the mapping
// does not leave out on purpose. A whole branch of which nothing is used is one
// entry, such as metadata.*.
func (t *taken) unmapped() []string {
	read := newReading(t.mapping)
	used := map[string]bool{} // columns that are read, and what is above them
	t.mapping.paths(func(path string) {
		for path != "" {
			used[path] = true
			at := strings.LastIndexByte(path, '.')
			path = path[:max(at, 0)]
		}
	})
	branches := map[string][]string{}
	names := slices.Sorted(maps.Keys(t.columns.names))
	for i, name := range names {
		if leafOf(names, i) && !read.covers(name) && !t.mapping.ignores(name) {
			at := branchOf(name, used, t.mapping)
			branches[at] = append(branches[at], name)
		}
	}
	var out []string
	for _, at := range slices.Sorted(maps.Keys(branches)) {
		if leaves := branches[at]; len(leaves) == 1 {
			out = append(out, leaves[0])
		} else {
			out = append(out, at)
		}
	}
	return out
}

// leafOf reports whether nothing stands below the name at i. Sorted, what does
// follows it, perhaps after others.
func leafOf(names []string, i int) bool {
	for _, other := range names[i+1:] {
		if !strings.HasPrefix(other, names[i]) {
			return true
		}
		if strings.HasPrefix(other, names[i]+".") {
			return false
		}
	}
	return true
}

// branchOf is the largest branch around a column in which nothing is read.
func branchOf(name string, used map[string]bool, m *Mapping) string {
	steps := strings.Split(name, ".")
	for i := 1; i < len(steps); i++ {
		if branch := strings.Join(steps[:i], "."); branch != "^" && !used[branch] && !m.ignoresBelow(branch) {
			return branch + ".*"
		}
	}
	return name
}

// ignoresBelow says that a column in a branch is left out on purpose.
func (m *Mapping) ignoresBelow(branch string) bool {
	return slices.ContainsFunc(m.ignore, func(i string) bool { return strings.HasPrefix(i, branch+".") })
}
