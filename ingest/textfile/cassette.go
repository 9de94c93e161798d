package textfile

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/goccy/go-yaml"

	"reprise/ingest/rows"
	"reprise/ingest/source"
)

// cassetteStart is how such a document begins.
var cassetteStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\A(?:---\s*\n)?(?:version: *\d+\s*\n)?interactions: *$`)
})

// IsCassette takes a recording of HTTP exchanges as VCR libraries keep it:
// a YAML document with a list of interactions.
func IsCassette(text []byte) bool {
	return !bytes.HasPrefix(text, []byte("{")) && cassetteStart().Match(text[:min(len(text), 256)])
}

// OpenCassette reads the whole document, which is never long, and goes on with
// it as JSON.
func OpenCassette(s *source.Source, r io.Reader) (out rows.Reader, err error) {
	b, err := io.ReadAll(io.LimitReader(r, rows.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > rows.MaxBytes {
		return nil, fmt.Errorf("%s: is a YAML recording of more than %d MiB; export it as JSON lines", s.Name, rows.MaxBytes>>20)
	}
	if regexp.MustCompile(`(?m)(?:^|[:\-,\[{] ?)\*\w+ *$`).Match(b) { // can grow without end
		return nil, fmt.Errorf("%s: is YAML with aliases, which are not read here; export it as JSON lines", s.Name)
	}
	defer func() {
		if recover() != nil {
			out, err = nil, fmt.Errorf("%s: is not valid YAML", s.Name)
		}
	}()
	b, err = yaml.YAMLToJSON(b)
	if err != nil { // its message draws the text
		return nil, fmt.Errorf("%s: is not valid YAML", s.Name)
	}
	return OpenJSON(s, bytes.NewReader(b))
}
