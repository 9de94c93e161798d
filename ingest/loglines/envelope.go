package loglines

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"reprise/ingest/notation"
)

// The envelopes that container runtimes and loggers put lines into, and where
// their time is.
func envelopeKeys() (text, at []string) {
	return []string{"log", "MESSAGE", "message", "msg", "line", "text", "body"},
		[]string{"time", "__REALTIME_TIMESTAMP", "@timestamp", "timestamp", "asctime", "ts"}
}

// unwrap takes a line out of its envelope: Docker's and journald's JSON, a JSON
// logger's, Kubernetes' "time stdout F ", and what tools put before it. at is the envelope's time.
func (t *Reader) unwrap(line []byte) (text []byte, at string) {
	line = plainLine(line)
	if len(line) > 0 && line[0] == '{' {
		v, err := t.inner.ParseBytes(line)
		if err != nil {
			return line, ""
		}
		texts, times := envelopeKeys()
		for _, key := range texts {
			if b := v.GetStringBytes(key); b != nil {
				return plainLine(bytes.TrimSpace(b)), notation.LookupText(v, times...)
			}
		}
		return line, ""
	}
	stamp, rest, ok := bytes.Cut(line, []byte(" "))
	for _, stream := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if ok && bytes.HasPrefix(rest, []byte(stream)) {
			return plainLine(rest[len(stream):]), string(stamp)
		}
	}
	return bare(line), ""
}

// maxPrefix bounds what a tool puts before a line.
const maxPrefix = 120

// bare takes off what docker compose ("vllm-1  | ") and journalctl ("Jul 25
// 14:05:11 host vllm[123]: ") put before a line.
func bare(line []byte) []byte {
	head := line[:min(len(line), maxPrefix)]
	if i := bytes.Index(head, []byte(" | ")); i > 0 && bytes.IndexByte(bytes.TrimRight(head[:i], " "), ' ') < 0 {
		return plainLine(line[i+3:])
	}
	if len(head) > 16 && head[3] == ' ' && head[6] == ' ' && head[9] == ':' && head[12] == ':' && head[15] == ' ' {
		if i := bytes.Index(head, []byte("]: ")); i > 0 {
			return plainLine(line[i+3:])
		}
	}
	return line
}

// plainLine cuts the colours for terminals out.
func plainLine(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out []byte
	for {
		at := bytes.IndexByte(line, 0x1b)
		if at < 0 {
			return append(out, line...)
		}
		out, line = append(out, line[:at]...), line[at+1:]
		if bytes.HasPrefix(line, []byte("[")) {
			end := bytes.IndexFunc(line[1:], func(r rune) bool { return r >= '@' && r <= '~' })
			line = line[min(len(line), end+2):]
		}
	}
}

// yearless reads times by their layout. One without a year counts seconds from
// the start of a year that nobody knows; when December is followed by January,
// the count goes on.
type yearless struct {
	years int
	month time.Month
}

func (y *yearless) format(layout, text string) (string, bool) {
	at, err := time.Parse(layout, text)
	switch {
	case err != nil:
		return "", false
	case at.Year() > 0 && strings.Contains(layout, "07"): // the layout has a zone
		return at.Format("2006-01-02T15:04:05.999999Z07:00"), true
	case at.Year() > 0:
		return at.Format("2006-01-02T15:04:05.999999"), true
	}
	if y.month == time.December && at.Month() == time.January {
		y.years++
	}
	y.month = at.Month()
	from := at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)) + time.Duration(y.years)*366*24*time.Hour
	return strconv.FormatFloat(from.Seconds(), 'f', 6, 64), true
}
