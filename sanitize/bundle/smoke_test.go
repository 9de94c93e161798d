package bundle

import (
	"os"
	"testing"
)

func TestSmoke(t *testing.T) {
	d := os.Getenv("SMOKE")
	if d == "" {
		t.Skip()
	}
	for _, p := range Profiles() {
		if err := Write(d+"/"+p, input(sampleTrace(1, 6000), p)); err != nil {
			t.Fatal(err)
		}
	}
}
