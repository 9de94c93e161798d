package ingest

import (
	"strings"
	"testing"
)

// Rows that are not UTF-8 are counted, and where they stand is said.
func TestBadTextIsSaid(t *testing.T) {
	for _, log := range []string{
		"{\"input_tokens\":1,\"output_tokens\":1,\"prompt\":\"a\"}\n{\"input_tokens\":1,\"output_tokens\":1,\"prompt\":\"b\xff\"}\n{\"input_tokens\":2,\"output_tokens\":1,\"prompt\":\"\xc3\"}\n",
		"input_tokens,output_tokens,prompt\n1,1,\xff\n2,1,a\n3,1,\xe2\x82\n",
	} {
		l, err := Open(t.Context(), Inputs{Stdin: strings.NewReader(log)})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range l.Records() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if got := strings.Join(l.Notes(), "\n"); n != 3 || !strings.Contains(got, "2 rows have bytes that are not UTF-8, which became U+FFFD: first at stdin:2, stdin:") {
			t.Errorf("%d rows: %s", n, got)
		}
	}
}
