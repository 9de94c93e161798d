package sign

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// signersCase is a list of allowed signers and who it lets sign. K, O and D
// stand for the signing key, another key and a DSA key.
type signersCase struct {
	name, text, principal string
	at                    time.Time
	want                  error // nil: allowed
}

const ns = customer

func signersCases() []signersCase {
	at, day := noon(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	deny := ErrUnknownSigner
	return []signersCase{
		{"plain", "alice K", "alice", at, nil},
		{"comment after the key", "alice K me at home", "alice", at, nil},
		{"blank and comment lines", "\n# x\n  # y\n\t\nalice K\n", "alice", at, nil},
		{"leading blanks, tabs", " \talice\tK", "alice", at, nil},
		{"CRLF lines", "# x\r\nalice K\r\n", "alice", at, nil},
		{"list", "bob,alice,carl K", "alice", at, nil},
		{"case counts", "Alice K", "alice", at, deny},
		{"star", "*@customer.example K", alice, at, nil},
		{"star elsewhere", "*@customer.example K", "a@vendor.example", at, deny},
		{"star is not a suffix match", "*@customer.example K", alice + ".evil", at, deny},
		{"question mark", "al?ce K", "alice", at, nil},
		{"question mark is one", "al?ce K", "alce", at, deny},
		{"stars", "*a*l*e* K", "alice", at, nil},
		{"star then question mark", "*?e K", "alice", at, nil},
		{"all stars", "** K", "alice", at, nil},
		{"stars that almost fit", "a*a*b K", "aaaaaaac", at, deny},
		{"negated", "*,!alice K", "alice", at, deny},
		{"negated first", "!alice,* K", "alice", at, deny},
		{"negated other", "!bob,* K", "alice", at, nil},
		{"only negated", "!bob K", "alice", at, deny},
		{"negated pattern", "*,!*@vendor.example K", "x@vendor.example", at, deny},
		{"two bangs", "!!alice,* K", "alice", at, nil},
		{"empty members", ",alice, K", "alice", at, nil},
		{"quoted", `"alice" K`, "alice", at, nil},
		{"quoted blank", `"alice a" K`, "alice a", at, nil},
		{"quoted list", `"bob,alice" K`, "alice", at, nil},
		{"key of another", "alice O", "alice", at, deny},
		{"second line", "alice O\nbob K\nalice K", "alice", at, nil},
		{"namespaces", `alice namespaces="` + ns + `" K`, "alice", at, nil},
		{"namespaces, no", `alice namespaces="file" K`, "alice", at, ErrNamespace},
		{"namespaces list", `alice namespaces="file,` + ns + `" K`, "alice", at, nil},
		{"namespaces pattern", `alice namespaces="*@reprise" K`, "alice", at, nil},
		{"namespaces negated", `alice namespaces="*,!*@reprise" K`, "alice", at, ErrNamespace},
		{"namespaces empty", `alice namespaces="" K`, "alice", at, ErrNamespace},
		{"namespaces, then a better line", "alice namespaces=\"file\" K\nalice K", "alice", at, nil},
		{"option case", `alice NameSpaces="file" K`, "alice", at, ErrNamespace},
		{"quote in a value", `alice namespaces="a\"b,` + ns + `" K`, "alice", at, nil},
		{"blank in a value", `alice namespaces="a b,` + ns + `" K`, "alice", at, nil},
		{"backslash in a value", `alice namespaces="a\b,` + ns + `" K`, "alice", at, nil},
		{"authority", "alice cert-authority K", "alice", at, deny},
		{"authority case", "alice CERT-Authority K", "alice", at, deny},
		{"authority and key", "alice cert-authority K\nalice K", "alice", at, nil},
		{"all options", `alice cert-authority,namespaces="x",valid-after="20200101",valid-before="20300101" O` + "\nalice K", "alice", at, nil},
		{"after, then", `alice valid-after="20260301Z" K`, "alice", day, nil},
		{"after, a second early", `alice valid-after="20260301Z" K`, "alice", day.Add(-time.Second), ErrExpired},
		{"after, half a second early", `alice valid-after="20260301Z" K`, "alice", day.Add(-time.Second / 2), ErrExpired},
		{"before, then", `alice valid-before="20260301Z" K`, "alice", day, nil},
		{"before, a second late", `alice valid-before="20260301Z" K`, "alice", day.Add(time.Second), ErrExpired},
		{"minutes", `alice valid-before="202603010001Z" K`, "alice", day.Add(time.Minute), nil},
		{"minutes, late", `alice valid-before="202603010001Z" K`, "alice", day.Add(time.Minute + time.Second), ErrExpired},
		{"seconds", `alice valid-before="20260301000107Z" K`, "alice", day.Add(67 * time.Second), nil},
		{"seconds, late", `alice valid-before="20260301000107Z" K`, "alice", day.Add(68 * time.Second), ErrExpired},
		{"local zone", `alice valid-after="20260301" K`, "alice", day.Add(5 * time.Hour), nil},
		{"local zone, early", `alice valid-after="20260301" K`, "alice", day.Add(5*time.Hour - time.Second), ErrExpired},
		{"local zone, seconds", `alice valid-before="20260301000107" K`, "alice", day.Add(5*time.Hour + 68*time.Second), ErrExpired},
		{"window", `alice valid-after="20260201Z",valid-before="20260401Z" K`, "alice", day, nil},
		{"old window, new window", "alice valid-before=\"20260101Z\" K\nalice valid-after=\"20260201Z\" K", "alice", day, nil},
		{"a key kind we refuse, elsewhere", "bob D\nalice K", "alice", at, nil},
		{"pattern as principal", "alice K", "*", at, deny},
	}
}

// Every line of the table means to us what it means to ssh-keygen, which runs
// in time zone EST5.
func TestAllowedSignersAsStock(t *testing.T) {
	needKeygen(t)
	key := softEd25519(1)
	message := []byte("m")
	sig := key.armored(ns, message)
	fill := keyNames(key)
	for _, c := range signersCases() {
		t.Run(c.name, func(t *testing.T) {
			text := fill.Replace(c.text)
			a := parseSigners(t, text)
			at := c.at.In(time.FixedZone("EST5", -5*3600))
			_, err := Verify(message, sig, a, c.principal, ns, at)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			stock := stockVerify(t, message, sig, text, c.principal, ns, c.at)
			if (stock == nil) != (err == nil) {
				t.Errorf("ours %v, ssh-keygen %v", err, stock)
			}
			ours := a.Principals(fingerprint(key.blob), at)
			first := "" // ssh-keygen prints the first line's patterns, up to an empty one
			if len(ours) > 0 && !strings.HasPrefix(ours[0], ",") {
				first = strings.ReplaceAll(ours[0], ",", "\n")
			}
			if got := stockPrincipals(t, sig, text, c.at); got != first {
				t.Errorf("find-principals: ours %q, ssh-keygen %q", first, got)
			}
		})
	}
}

func keyNames(key soft) *strings.Replacer {
	dsa := soft{kind: "ssh-dss", blob: field([]byte("ssh-dss"), []byte{9})}
	return strings.NewReplacer(" K", " "+key.line(), "\tK", "\t"+key.line(),
		" O", " "+softEd25519(2).line(), " D", " "+dsa.line())
}

// badSigners are lists we refuse, by the line that is wrong. ssh-keygen skips
// such a line, so none of them may let the key sign there either.
func badSigners() []string {
	return []string{
		"alice",
		"alice ssh-ed25519",
		"alice ssh-ed25519 AAAA",
		"alice ssh-ed25519 *",
		"alice ssh-rsa KEYONLY",
		"alice ssh-unknown KEYONLY",
		"alice unknown-option K",
		"alice no-touch-required K",
		"alice cert-authority",
		"alice cert-authorityx K",
		"alice cert-authority, K",
		`alice namespaces K`,
		`alice namespaces=file K`,
		`alice namespaces="file K`,
		`alice namespaces="file"x K`,
		`alice namespaces="file",namespaces="git" K`,
		`alice valid-after="20260101",valid-after="20260102" K`,
		`alice valid-after="2026" K`,
		`alice valid-after="20261301" K`,
		`alice valid-after="19600101Z" K`,
		`alice valid-after="2026-1-1" K`,
		`alice valid-after="" K`,
		`alice valid-after="20260102Z",valid-before="20260101Z" K`,
		`"alice K`,
		`"" K`,
	}
}

func TestAllowedSignersRefused(t *testing.T) {
	needKeygen(t)
	key := softEd25519(1)
	sig := key.armored(ns, []byte("m"))
	fill := strings.NewReplacer(" K", " "+key.line(), "KEYONLY", strings.Fields(key.line())[1])
	for _, text := range badSigners() {
		full := fill.Replace("# first\n" + text + "\n")
		_, err := ParseAllowedSigners([]byte(full))
		oneLine(t, err)
		if err != nil && !strings.Contains(err.Error(), "line 2: ") {
			t.Errorf("%s: no line number in %v", text, err)
		}
		if stockVerify(t, []byte("m"), sig, full, "alice", ns, noon()) == nil {
			t.Errorf("%s: ssh-keygen accepts this line", text)
		}
	}
}

// Stricter than ssh-keygen, on purpose: what it takes and we do not.
func TestAllowedSignersStricter(t *testing.T) {
	key := softEd25519(1)
	for _, text := range []string{
		"\xef\xbb\xbfalice K",
		`al"ice" K`,
		`"alice"K`,
		", K",
		"alice K\x00",
		"alice K\rbob O",
		strings.Repeat("a", maxPattern+1) + " K",
		`alice namespaces="` + strings.Repeat("a", maxPattern+1) + `" K`,
		`alice valid-after="20260230" K`,
		"alice " + strings.TrimRight(key.line(), "=")[:40],
	} {
		_, err := ParseAllowedSigners([]byte(strings.ReplaceAll(text, " K", " "+key.line())))
		oneLine(t, err)
		if err != nil && !strings.Contains(err.Error(), "line 1: ") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// Whoever forgets the principal, the time or the list gets no for an answer.
func TestForgotten(t *testing.T) {
	key := softEd25519(1)
	message := []byte("m")
	sig := key.armored(ns, message)
	a := parseSigners(t, "* "+key.line())
	if _, err := Verify(message, sig, a, "anyone", ns, noon()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a             *AllowedSigners
		principal, ns string
		at            time.Time
		want          error
	}{
		{nil, "anyone", ns, noon(), ErrUnknownSigner},
		{a, "", ns, noon(), ErrUnknownSigner},
		{a, "anyone", "", noon(), ErrNamespace},
		{a, "anyone", ns, time.Time{}, ErrExpired},
	} {
		_, err := Verify(message, sig, c.a, c.principal, c.ns, c.at)
		if !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
		oneLine(t, err)
	}
	if a.Len() != 1 || (*AllowedSigners)(nil).Len() != 0 {
		t.Error("wrong length")
	}
}

func TestPrincipals(t *testing.T) {
	key := softEd25519(1)
	k := key.line()
	a := parseSigners(t, "alice,al* "+k+"\nbob "+softEd25519(2).line()+"\ncarl "+k+"\nold valid-before=\"20200101Z\" "+k)
	if got := a.Principals(fingerprint(key.blob), noon()); !slices.Equal(got, []string{"alice,al*", "carl"}) {
		t.Errorf("got %q", got)
	}
}

// The error is of the line that came closest, so that it says what to mend.
func TestClosestLine(t *testing.T) {
	key := softEd25519(1)
	k := key.line()
	a := parseSigners(t, "bob "+k+"\nalice valid-before=\"20200101Z\" "+k+"\nalice namespaces=\"file\" "+k)
	_, err := Verify([]byte("m"), key.armored(ns, []byte("m")), a, "alice", ns, noon())
	if !errors.Is(err, ErrExpired) || !strings.Contains(err.Error(), "line 2 ") {
		t.Errorf("got %v", err)
	}
}
