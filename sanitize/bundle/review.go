package bundle

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"strconv"
	"strings"

	"reprise/trace/spec"
)

//go:embed review.html.tmpl
var reviewText string

// reviewData is what review.html is made from.
type reviewData struct {
	Spec     *spec.Spec
	Audit    *Audit
	About    string
	Rows     bool // requests leave
	Files    []reviewFile
	Sections []string // of the spec
	Figures  []figure
	Columns  []Field
	Held     []figure
	Signers  []signerData
}

type reviewFile struct{ Path, Size, Rows, What string }

// figure is one number of re-identification with what it means.
type figure struct{ Label, Value, Note string }

// writeReview writes the page for the customer's security reviewer: no script,
// nothing fetched, nothing that the signed files do not say too.
func writeReview(dir string, in *Input, out *leaving, a *Audit) error {
	p, err := profileOf(in.Profile)
	if err != nil {
		return err
	}
	d := reviewData{Spec: out.spec, Audit: a, About: p.about, Rows: out.rows != nil, Signers: signersOf(out.spec),
		Sections: sections(out.spec), Figures: figures(a, out.rows != nil)}
	for _, f := range a.Files {
		d.Files = append(d.Files, reviewFile{f.Path, size(f.Bytes), thousands(f.Rows), "one row a request"})
	}
	entry, err := digest(filepath.Join(dir, AuditFile), AuditFile)
	if err != nil {
		return err
	}
	d.Files = append(d.Files,
		reviewFile{SpecFile, "", "", "the statistics below and the question; the file that is signed"},
		reviewFile{AuditFile, size(entry.Bytes), "", "this page's figures, for a program"},
		reviewFile{ReviewFile, "", "", "this page"},
		reviewFile{ReadmeFile, "", "", "how to verify and sign; not covered by the signature"})
	for _, f := range a.Fields {
		if f.File == TraceFile && f.Present > 0 {
			d.Columns = append(d.Columns, f)
		}
	}
	for _, h := range a.HeldBack {
		key, what, ok := strings.Cut(h, ": ")
		if !ok {
			what = "all of it"
		}
		d.Held = append(d.Held, figure{Label: key, Note: what})
	}
	var b bytes.Buffer
	t, err := template.New(ReviewFile).Funcs(template.FuncMap{"thousands": thousands}).Parse(reviewText)
	if err != nil {
		return err
	}
	if err := t.Execute(&b, d); err != nil {
		return err
	}
	return createBytes(filepath.Join(dir, ReviewFile), b.Bytes())
}

// figures words what could be told from the bundle. The figure of the public
// trace is measured in sanitization.md §2.5.
func figures(a *Audit, rows bool) []figure {
	r := a.Reident
	if !rows {
		least := "none"
		if r.SmallestGroup > 0 {
			least = thousands(r.SmallestGroup)
		}
		return []figure{
			{"Rows that leave", "0", "statistics only"},
			{"Fewest requests behind a number", least, fmt.Sprintf("the threshold k is %d", a.K)},
			{"Statistics held back", thousands(int64(len(a.HeldBack))), "listed below"},
		}
	}
	return []figure{
		{"Rows that leave", thousands(r.Rows), "one for each request"},
		{"Rows with lengths of their own", percent(float64(r.UniqueInOut)), "input and output tokens single the row out; 98.9 % in the public Mooncake trace"},
		{"Smallest group", thousands(r.SmallestGroup), "rows with the same two lengths"},
		{"Distinct times", thousands(r.DistinctTimes), "microseconds from the trace's zero"},
		{"Sessions", thousands(r.Sessions), thousands(r.SingletonSessions) + " of one request"},
	}
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + " %" }

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// thousands writes 1234567 as "1,234,567".
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String()
}
