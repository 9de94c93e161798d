package bundle

import (
	"fmt"
	"path/filepath"
	"strings"

	"reprise/trace"
	"reprise/trace/spec"
)

// audit reads back what the directory holds so far and describes it.
func audit(dir string, in *Input, out *leaving) (*Audit, error) {
	a := &Audit{Kind: AuditKind, Version: AuditVersion, Tool: in.Tool, Profile: in.Profile, K: in.K, U: in.U,
		UserRule: out.user, Calendar: out.spec.Privacy.Calendar, HeldBack: out.spec.Privacy.HeldBack,
		Files: []AuditFileEntry{}, Counts: in.counts()}
	fields, err := specFields(out.spec)
	if err != nil {
		return nil, err
	}
	a.Reident.SmallestGroup = smallestGroup(&out.spec.Workload)
	if out.rows != nil {
		sent, err := trace.LoadFile(filepath.Join(dir, TraceFile))
		if err != nil {
			return nil, err
		}
		if err := searchTrace(sent, in.forbidden()); err != nil {
			return nil, err
		}
		file, err := digest(filepath.Join(dir, TraceFile), TraceFile)
		if err != nil {
			return nil, err
		}
		a.Files = append(a.Files, AuditFileEntry{file.Path, file.Bytes, file.SHA256, int64(len(sent.Requests))})
		a.Reident = reident(sent)
		fields = append(traceColumns(sent), fields...)
	}
	a.Fields = fields
	a.Searched = append(append([]Search{}, in.Searched...), in.searched(out)...)
	a.NotSearched = append(append([]Gap{}, in.NotSearched...), Gap{"the question and the names in the spec", "a person typed them: read them before you sign"})
	a.Statement = statement(in, out)
	return a, nil
}

// counts is the account of the local trace's rows. Under aggregate a count
// below k is a small group and joins "other".
func (in *Input) counts() AuditCounts {
	out := AuditCounts{Rejected: map[string]int64{}, Excluded: map[string]int64{}}
	if in.Trace == nil {
		return out
	}
	c := plainCounts(in.Trace.Header.Counts)
	if in.Profile == "aggregate" {
		c.Rejected, c.Excluded = joinRare(c.Rejected, int64(in.K)), joinRare(c.Excluded, int64(in.K))
	}
	out = AuditCounts{Read: c.Read, Kept: c.Kept, Rejected: c.Rejected, Excluded: c.Excluded}
	if n := clients(in.Trace); n > 0 && n >= int64(in.U) {
		out.Clients = &n
	}
	return out
}

// joinRare counts keys with fewer than k rows as one.
func joinRare(m map[string]int64, k int64) map[string]int64 {
	out := map[string]int64{}
	for key, n := range m {
		if n < k {
			key = other
		}
		out[key] += n
	}
	return out
}

// reident measures how far rows single out. Distinct times are those of rows.
func reident(t *trace.Trace) Reident {
	type pair struct{ in, out any }
	lengths, times, sessions := newTally(), newTally(), newTally()
	for i := range t.Requests {
		r := &t.Requests[i]
		lengths.add(pair{opt(r.Input), opt(r.Output)})
		times.add(opt(r.T))
		sessions.add(opt(r.Session))
	}
	out := Reident{Rows: int64(len(t.Requests)), SmallestGroup: lengths.smallest(),
		DistinctTimes: int64(len(times.groups)), Sessions: int64(len(sessions.groups)), SingletonSessions: ones(sessions)}
	if out.Rows > 0 {
		out.UniqueInOut = spec.Round(float64(ones(lengths)) / float64(out.Rows))
	}
	return out
}

// ones returns how many values occur once.
func ones(t *tally) int64 {
	var n int64
	for _, c := range t.groups {
		if c == 1 {
			n++
		}
	}
	return n
}

// searchTrace looks for the strings in every string of a trace file.
func searchTrace(t *trace.Trace, forbidden []string) error {
	h := t.Header
	held := map[string]bool{h.Tokenizer.Name: true, h.Template.Name: true, h.Time.Zero: true,
		h.Tool.Name: true, h.Tool.Version: true, h.Tool.Commit: true, h.Tokenizer.SHA256: true, h.Template.SHA256: true}
	for _, s := range h.Sources {
		held[s.SHA256] = true
	}
	for _, m := range []map[string]int64{h.Counts.Rejected, h.Counts.Excluded} {
		for k := range m {
			held[k] = true
		}
	}
	for i := range t.Requests {
		held[t.Requests[i].Model], held[t.Requests[i].Adapter] = true, true
	}
	for s := range held {
		for _, f := range forbidden {
			if strings.Contains(s, f) {
				return fmt.Errorf("%s holds a string that must not leave", TraceFile)
			}
		}
	}
	return nil
}

// searched lists what was looked for in the bundle itself; Write refuses the
// bundle when one of them is found, so the counts are zero.
func (in *Input) searched(out *leaving) []Search {
	var list []Search
	if out.rows != nil {
		list = append(list, Search{What: "client numbers", Where: TraceFile})
	}
	if in.Trace != nil {
		list = append(list, Search{What: "hashes of the log files", Where: "every file of the bundle"})
	}
	if len(in.Forbidden) > 0 {
		list = append(list, Search{What: fmt.Sprintf("%d strings that must not leave", len(in.Forbidden)), Where: "every file of the bundle"})
	}
	return list
}

// statement says in plain sentences what the audit found. The words are
// careful: lengths and times can single out rows, so nothing is "anonymous".
func statement(in *Input, out *leaving) []string {
	list := []string{"No text of a prompt or of an answer leaves: the formats have no field for it."}
	if out.rows != nil {
		list = append(list, "Rows are pseudonymised, not anonymous: someone who knows the lengths and times of a request can find its row.")
	} else {
		list = append(list, fmt.Sprintf("Every published statistic rests on at least k = %d requests, or was stated by a person.", in.K))
	}
	return append(list, "On clients: "+out.user+".")
}

// smallestGroup returns the smallest number of requests behind a statistic of a
// workload, 0 when a person stated all of them.
func smallestGroup(w *spec.Workload) int64 {
	var least int64
	see := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	see(w.Lengths.Input.Quantiles.N)
	see(w.Lengths.Output.Quantiles.N)
	if j := w.Lengths.Joint; j != nil {
		for _, s := range j.Strata {
			see(s.N)
		}
	}
	see(w.Arrivals.Rate.N)
	if r := w.Arrivals.Rates; r != nil {
		for _, c := range r.Counts {
			see(c)
		}
	}
	if m := w.Prefix.Model; m != nil {
		for _, s := range m.Strata {
			see(s.N)
		}
	}
	for _, r := range w.Prefix.Roots {
		see(r.N)
	}
	if s := w.Sessions; s != nil {
		see(s.Turns.N)
		for _, x := range s.Hazards {
			see(x.N)
		}
		if s.Starts != nil && s.Starts.Rates != nil {
			for _, c := range s.Starts.Rates.Counts {
				see(c)
			}
		}
		for _, x := range []*spec.Table{s.Between, s.Think, s.ThinkHuman, s.ThinkTool, s.Growth, s.Kept, s.First} {
			if x != nil {
				see(x.N)
			}
		}
	}
	for _, c := range w.Lengths.Classes {
		see(c.N)
	}
	for _, list := range [][]spec.Share{w.Features.Models, w.Features.Adapters} {
		for _, s := range list {
			see(s.N)
		}
	}
	return least
}
