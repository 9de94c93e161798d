package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Markdown writes the report as GitHub-flavoured Markdown: the answer, then the
// same tables as the text. Whatever comes from outside is escaped.
func (r *Report) Markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n**%s**: %s\n", mark(r.Headline), mark(r.Detail), strings.ToUpper(r.Verdict.word()), mark(r.Reason))
	if r.Shape != Single {
		markGrid(&b, "Side by side ("+r.sideTitle()+")", r.sideCells())
		if cells := r.sideServer(); cells != nil {
			markGrid(&b, r.sideServerTitle(), cells)
		}
	}
	for i := range r.Summaries {
		r.Summaries[i].markdown(&b, r.Shape == Single)
	}
	fmt.Fprintf(&b, "\n## What the words mean\n\n")
	for _, d := range r.Definitions {
		fmt.Fprintf(&b, "- **%s** %s\n", d.Name, mark(d.Means))
	}
	fmt.Fprintf(&b, "\n%s\n", mark(versionLine(r.Tool.Name, r.Tool.Version, r.Tool.Commit)))
	_, err := w.Write(b.Bytes())
	return err
}

func (s *Summary) markdown(b *bytes.Buffer, single bool) {
	if !single {
		fmt.Fprintf(b, "\n## %s\n\n%s. %s\n", mark(s.Name), mark(s.headline()), mark(s.detail()))
	}
	if len(s.SLO) > 0 {
		markGrid(b, "Limits ("+s.where()+")", s.sloCells())
	}
	title := "Latency, ms (" + s.where() + ")"
	if s.Client.Withheld() {
		title = "Latency, ms: NOT the server's, " + s.Client.fault() + " (" + s.where() + ")"
	}
	markGrid(b, title, s.latencyCells())
	for _, n := range s.tooFew() {
		fmt.Fprintf(b, "\n%s\n", mark(n))
	}
	markGrid(b, "Requests (measured phase)", s.outcomeCells())
	markGrid(b, "Load", s.loadCells())
	markGrid(b, "Client", s.clientCells())
	if cells := s.serverCells(); len(cells) > 1 {
		markGrid(b, s.serverTitle(), cells)
	}
	markList(b, "What could not be controlled, and what to know", s.Notes)
	markList(b, "What ran", s.sourceLines())
}

func markGrid(b *bytes.Buffer, title string, cells [][]string) {
	fmt.Fprintf(b, "\n### %s\n\n", mark(title))
	for i, row := range cells {
		for _, c := range row {
			b.WriteString("| " + mark(strings.TrimSpace(c)) + " ")
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for j, c := range row {
			if j > 0 && !isWords(c) {
				b.WriteString("| ---: ")
			} else {
				b.WriteString("| --- ")
			}
		}
		b.WriteString("|\n")
	}
}

func markList(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", mark(title))
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", mark(l))
	}
}

// mark escapes what Markdown or the HTML inside it would act on.
func mark(s string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		switch {
		case strings.ContainsRune("\\`*_{}[]|~!#", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
