package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// TextWidth is the widest line of the text report, in columns, unless TextIn is
// asked for another.
const TextWidth = 100

// sheet is text of a width that is being written.
type sheet struct {
	bytes.Buffer
	width int
}

// Text writes the report for a terminal: the answer first, at most 100 columns,
// no colours and no control characters, whatever the labels hold.
func (r *Report) Text(w io.Writer) error { return r.TextIn(w, TextWidth) }

// TextIn is Text in lines of so many columns: texts and cells are wrapped at
// blanks, and no number is cut. Tables of many numbers need 80.
func (r *Report) TextIn(w io.Writer, width int) error {
	b := sheet{width: width}
	para(&b, r.Headline)
	para(&b, r.Detail)
	fmt.Fprintln(&b)
	para(&b, strings.ToUpper(r.Verdict.word())+": "+r.Reason)
	if r.Shape != Single {
		grid(&b, "Side by side ("+r.sideTitle()+")", r.sideCells(), 1)
		if cells := r.sideServer(); cells != nil {
			grid(&b, r.sideServerTitle(), cells, 1)
		}
	}
	for i := range r.Summaries {
		r.Summaries[i].text(&b, r.Shape == Single)
	}
	b.WriteString("\n")
	para(&b, "Percentiles are of type 1, observed values of answered requests of the measured phase; --format md, json and html say what every word means.")
	fmt.Fprintf(&b, "\n%s\n", versionLine(r.Tool.Name, r.Tool.Version, r.Tool.Commit))
	_, err := w.Write(b.Bytes())
	return err
}

// text writes one summary; the only one has had its headline above.
func (s *Summary) text(b *sheet, single bool) {
	if !single {
		fmt.Fprintf(b, "\n== %s ==\n", clean(s.Name))
		para(b, s.headline()+". "+s.detail())
	}
	if len(s.SLO) > 0 {
		cells := s.sloCells()
		for i := range cells {
			cells[i] = cells[i][:len(cells[i])-1] // why: below, where there is room
		}
		grid(b, "Limits ("+s.where()+")", cells, 1)
		for _, x := range s.SLO {
			if x.Verdict != Met {
				para(b, "  "+x.Text+": "+x.Reason)
			}
		}
	}
	title := "Latency, ms (" + s.where() + ")"
	if s.Client.Withheld() {
		title = "Latency, ms: NOT the server's, " + s.Client.fault() + " (" + s.where() + ")"
	}
	grid(b, title, s.latencyCells(), 1)
	for _, n := range s.tooFew() {
		para(b, "  "+n)
	}
	grid(b, "Requests (measured phase)", s.outcomeCells(), 1)
	grid(b, "Load", s.loadCells(), 1)
	grid(b, "Client", s.clientCells(), 1)
	if cells := s.serverCells(); len(cells) > 1 {
		grid(b, s.serverTitle(), cells, 1)
	}
	list(b, "What could not be controlled, and what to know", s.Notes)
	list(b, "What ran", s.sourceLines())
}

// grid writes a titled table; cells holds the header first. Columns from
// `right` on are numbers and stand on the right.
func grid(b *sheet, title string, cells [][]string, right int) {
	b.WriteString("\n")
	if title != "" {
		para(b, title)
	}
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format = table.FormatOptions{Header: text.FormatDefault, Row: text.FormatDefault}
	t.SetStyle(style)
	var configs []table.ColumnConfig
	for i, width := range widths(cells, b.width) {
		c := table.ColumnConfig{Number: i + 1, WidthMax: width, WidthMaxEnforcer: text.WrapSoft}
		if i >= right && !strings.HasSuffix(cells[0][i], " ") {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, c)
	}
	t.SetColumnConfigs(configs)
	for i, row := range cells {
		r := table.Row{}
		for _, c := range row {
			r = append(r, clean(c))
		}
		if i == 0 {
			t.AppendHeader(r)
			continue
		}
		t.AppendRow(r)
	}
	for line := range strings.Lines(t.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// Grid writes a table as the text report has them, for others of this program:
// cells with the header first, numbers from column `right` on.
func Grid(w io.Writer, cells [][]string, right, width int) error {
	b := sheet{width: width}
	grid(&b, "", cells, right)
	_, err := w.Write(b.Bytes())
	return err
}

// leastLabel is how narrow a first column becomes, whatever its words: names of
// runs and limits have no blanks.
const leastLabel = 12

// widths gives each column what it needs, and takes from the widest until the
// table fits. No column is narrower than its longest word but the first.
func widths(cells [][]string, most int) []int {
	w, least := make([]int, len(cells[0])), make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			w[i] = max(w[i], text.StringWidthWithoutEscSequences(clean(c)))
			for word := range strings.FieldsSeq(clean(c)) {
				least[i] = max(least[i], text.StringWidthWithoutEscSequences(word))
			}
		}
	}
	least[0] = min(least[0], leastLabel)
	for {
		sum, widest := 0, -1
		for i, n := range w {
			sum += n + 2
			if n > least[i] && (widest < 0 || n > w[widest]) {
				widest = i
			}
		}
		if sum <= most || widest < 0 {
			return w
		}
		w[widest]--
	}
}

// list writes a heading and one bullet a line.
func list(b *sheet, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, l := range lines {
		para(b, "- "+l)
	}
}

// para writes a paragraph in lines of at most the width of b.
func para(b *sheet, s string) {
	s = clean(s)
	indent := s[:len(s)-len(strings.TrimLeft(s, " -"))]
	hang := strings.Repeat(" ", len(indent))
	line := indent
	for _, word := range strings.Fields(strings.TrimLeft(s, " -")) {
		for text.StringWidthWithoutEscSequences(word) > b.width-len(hang) {
			cut := []rune(word)[:b.width-len(hang)-2]
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = hang + string(cut)
			word = strings.TrimPrefix(word, string(cut))
			b.WriteString(line + "\n")
			line = hang
		}
		if text.StringWidthWithoutEscSequences(line+word) > b.width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = hang
		}
		line += word + " "
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
