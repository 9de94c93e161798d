package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"reprise/replay"
	"reprise/trace"
)

// rowSource is a table of named columns; a cell is nil, a number, a bool, a
// string or a list of integers.
type rowSource struct {
	columns []string
	rows    iter.Seq2[[]any, error]
}

func traceRows(f *trace.File) rowSource {
	return rowSource{trace.Columns(), func(yield func([]any, error) bool) {
		for r, err := range f.Requests() {
			if !yield(trace.Cells(&r), err) || err != nil {
				return
			}
		}
	}}
}

func resultRows(d *replay.Dir) rowSource {
	return rowSource{replay.Columns(), func(yield func([]any, error) bool) {
		for r, err := range d.Requests() {
			if !yield(replay.Cells(&r), err) || err != nil {
				return
			}
		}
	}}
}

// csv writes a header and the rows; lists are written as JSON.
func (s rowSource) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(s.columns); err != nil {
		return err
	}
	record := make([]string, len(s.columns))
	for cells, err := range s.rows {
		if err != nil {
			return err
		}
		for i, c := range cells {
			record[i] = cell(c)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cell formats one value for CSV. A text that a spreadsheet would run as a
// formula gets a quote in front (CWE-1236).
func cell(c any) string {
	switch v := c.(type) {
	case nil:
		return ""
	case string:
		if v != "" && (v[0] == '=' || v[0] == '+' || v[0] == '-' || v[0] == '@' || v[0] == '\t' || v[0] == '\r') {
			return "'" + v
		}
		return v
	case []int32:
		b, _ := json.Marshal(v) // integers always encode
		return string(b)
	}
	return fmt.Sprint(c)
}

// jsonl writes one object a row, keys in the order of the columns, nulls left
// out.
func (s rowSource) jsonl(w io.Writer) error {
	out := bufio.NewWriter(w)
	for cells, err := range s.rows {
		if err != nil {
			return err
		}
		sep := byte('{')
		for i, c := range cells {
			if c == nil {
				continue
			}
			b, err := json.Marshal(c)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%c%q:%s", sep, s.columns[i], b)
			sep = ','
		}
		out.WriteString("}\n")
	}
	return out.Flush()
}
