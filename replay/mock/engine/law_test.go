package engine

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestLawFile: what is written is read again, strictly.
func TestLawFile(t *testing.T) {
	for _, law := range Presets() {
		data, err := EncodeLaw(law)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeLaw(data)
		if err != nil || !reflect.DeepEqual(back, law) {
			t.Errorf("%s: %v\n%+v\n%+v", law.Name, err, back, law)
		}
		for _, spoil := range [][2]string{{`"reprise.law"`, `"reprise.spec"`}, {`"version": 1`, `"version": 2`}, {`"name"`, `"nome"`}} {
			if _, err := DecodeLaw(bytes.Replace(data, []byte(spoil[0]), []byte(spoil[1]), 1)); err == nil && bytes.Contains(data, []byte(spoil[0])) {
				t.Errorf("%s: %s for %s was accepted", law.Name, spoil[1], spoil[0])
			}
		}
	}
}

// FuzzDecodeLaw: any law that is accepted can run, and comes back from its JSON.
func FuzzDecodeLaw(f *testing.F) {
	for _, l := range Presets() {
		data, err := json.Marshal(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"base_us":1e400}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := DecodeLaw(data)
		if err != nil || l.Blocks > 1<<16 {
			return
		}
		again, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := DecodeLaw(again); err != nil || !reflect.DeepEqual(b, l) {
			t.Errorf("%+v came back as %+v, %v", l, b, err)
		}
		e, err := New(l, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Submit(0, exact(1, 1)); err != nil {
			return // a rate limit under one, say
		}
		var events []Event
		for now, ok := time.Duration(0), true; ok; {
			events, now, ok = e.Step(now, events)
		}
		if len(events) != 1 || events[0].Finish != Length {
			t.Errorf("%+v gave %+v", l, events)
		}
	})
}

func TestHashBlocks(t *testing.T) {
	a, b := make([]int32, 64), make([]int32, 70)
	b[40] = 1
	ha, alla := HashBlocks(nil, a)
	hb, allb := HashBlocks(nil, b)
	if len(ha) != 4 || len(hb) != 4 || ha[0] != hb[0] || ha[1] != hb[1] || ha[2] == hb[2] || ha[3] == hb[3] || alla == allb {
		t.Errorf("%x\n%x", ha, hb)
	}
}
