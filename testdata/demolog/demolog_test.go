package demolog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := Write(w, 1); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatal("one seed gave two logs")
	}
	lines := strings.Split(strings.TrimSuffix(a.String(), "\n"), "\n")
	bad, other := 0, 0
	for _, l := range lines {
		var r row
		if json.Unmarshal([]byte(l), &r) != nil {
			bad++
			continue
		}
		if r.Endpoint == "/v1/embeddings" {
			other++
			continue
		}
		if len(r.Request.Messages) > 1 && r.Request.Messages[0].Content != instructions {
			t.Fatal("a prompt does not begin with the instruction block")
		}
	}
	t.Logf("%d rows, %.1f MB, %d unreadable, %d embeddings", len(lines), float64(a.Len())/1e6, bad, other)
	if bad != 2 || other == 0 || len(lines) < 3000 {
		t.Fatalf("%d rows, %d unreadable, %d embeddings", len(lines), bad, other)
	}
}
