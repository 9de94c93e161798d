package sign

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// FuzzVerify: no input panics; what is accepted encodes to the same bytes
// again, up to the width of the lines and the last newline.
func FuzzVerify(f *testing.F) {
	key, message := softEd25519(1), []byte("m")
	for _, s := range []soft{key, softEd25519(2), softSK(f, typeSKEd25519, 1), softSK(f, typeSKEd25519, 0)} {
		f.Add(message, s.armored(customer, message))
		f.Add(message, armor(s.envelope(customer, "sha256", message), 64))
	}
	f.Add([]byte("other"), key.armored(vendor, message))
	f.Add(message, []byte(armorBegin+"\n"+armorEnd))
	a := parseSigners(f, alice+" "+key.line()+"\n"+alice+" "+softSK(f, typeSKEd25519, 1).line())
	f.Fuzz(func(t *testing.T, message, sig []byte) {
		_, err := Verify(message, sig, a, alice, customer, noon())
		if err != nil {
			oneLine(t, err)
			if !typed(err) {
				t.Errorf("not one of the package's errors: %v", err)
			}
			return
		}
		e, err := open(sig)
		if err != nil {
			t.Fatal(err)
		}
		again := armor(reencode(e), 70)
		if !bytes.Equal(unbroken(again), unbroken(sig)) {
			t.Errorf("accepted, but not as it would be written:\n%s\n%s", sig, again)
		}
	})
}

// FuzzEnvelope goes past the armor: whatever blob parses encodes to itself,
// whether or not its signature holds.
func FuzzEnvelope(f *testing.F) {
	for _, s := range []soft{softEd25519(1), softSK(f, typeSKEd25519, 1)} {
		f.Add(s.envelope(customer, "sha512", []byte("m")))
		f.Add(s.blob)
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		e, err := parseEnvelope(blob)
		if err != nil {
			oneLine(t, err)
			return
		}
		if again := reencode(e); !bytes.Equal(again, blob) {
			t.Errorf("%x\n%x", blob, again)
		}
		if err := e.check([]byte("m")); err != nil && !typed(err) {
			t.Errorf("not one of the package's errors: %v", err)
		}
	})
}

func reencode(e *envelope) []byte {
	sig := append(appendString(nil, e.alg), e.sig...)
	b := append([]byte(magic), 0, 0, 0, version)
	return append(b, field(e.key, []byte(e.namespace), nil, []byte(e.hash), sig)...)
}

func unbroken(sig []byte) []byte { return bytes.ReplaceAll(sig, []byte("\n"), nil) }

// FuzzParseKey: a key blob that parses must be read to its last byte, and its
// verify must not panic on any signature.
func FuzzParseKey(f *testing.F) {
	f.Add(softEd25519(1).blob, []byte{})
	f.Add(softSK(f, typeSKEd25519, 1).blob, field(make([]byte, 64), nil))
	f.Add(field([]byte(typeRSA), []byte{3}, bytes.Repeat([]byte{1}, 256)), field(make([]byte, 256)))
	f.Add(softSK(f, typeSKP256, 1).blob, field(field([]byte{1}, []byte{1}), nil))
	f.Fuzz(func(t *testing.T, blob, sig []byte) {
		k, err := parseKey(blob)
		if err != nil {
			oneLine(t, err)
			return
		}
		w := wire{b: blob}
		kind := string(w.str())
		for _, alg := range []string{kind, "rsa-sha2-256", "rsa-sha2-512"} {
			if err := k.verify(alg, sig, []byte("data")); err != nil && !typed(err) {
				t.Errorf("not one of the package's errors: %v", err)
			}
		}
		if _, err := parseKey(append(bytes.Clone(blob), 0)); err == nil {
			t.Error("a byte more is accepted")
		}
	})
}

// FuzzParseAllowedSigners: no list panics; one that parses means the same when
// its lines are written out again from what was understood.
func FuzzParseAllowedSigners(f *testing.F) {
	key := softEd25519(1)
	fill := keyNames(key)
	for _, c := range signersCases() {
		f.Add(fill.Replace(c.text), c.principal)
	}
	for _, text := range badSigners() {
		f.Add(fill.Replace(text), "alice")
	}
	f.Fuzz(func(t *testing.T, text, principal string) {
		a, err := ParseAllowedSigners([]byte(text))
		if err != nil {
			oneLine(t, err)
			return
		}
		written := ""
		for i := range a.entries {
			written += a.entries[i].text() + "\n"
			a.entries[i].line = i + 1
		}
		again, err := ParseAllowedSigners([]byte(written))
		if err != nil {
			t.Fatalf("%v in %q", err, written)
		}
		if !reflect.DeepEqual(a, again) {
			t.Errorf("%q read again as %q", text, written)
		}
		one, two := a.allow(key.blob, principal, ns, noon()), again.allow(key.blob, principal, ns, noon())
		if fmt.Sprint(one) != fmt.Sprint(two) {
			t.Errorf("%v, then %v", one, two)
		}
	})
}

// text writes the entry as a line.
func (e *entry) text() string {
	var o []string
	if e.ca {
		o = append(o, "cert-authority")
	}
	if e.namespaces != nil {
		o = append(o, `namespaces="`+strings.ReplaceAll(*e.namespaces, `"`, `\"`)+`"`)
	}
	if e.after != nil {
		o = append(o, `valid-after="`+e.after.text()+`"`)
	}
	if e.before != nil {
		o = append(o, `valid-before="`+e.before.text()+`"`)
	}
	key := soft{kind: e.keyType, blob: e.key}
	return `"` + e.principals + `" ` + strings.Join(o, ",") + " " + key.line()
}

func (m moment) text() string {
	date := m.wall.Format("20060102150405")
	if m.utc {
		date += "Z"
	}
	return date
}
