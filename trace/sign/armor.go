package sign

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	armorBegin = "-----BEGIN SSH SIGNATURE-----"
	armorEnd   = "-----END SSH SIGNATURE-----"

	// maxArmor is far above the largest honest signature: RSA of 16384 bits
	// takes 6 KiB.
	maxArmor = 64 << 10
)

// dearmor returns the blob inside exactly one armor block. Lines may have any
// width as long as all but the last are equally wide, since tools differ in
// it; base64 must be canonical, and only the newline after the footer may be
// missing. So apart from width and that newline one blob has one armor.
func dearmor(armored []byte) ([]byte, error) {
	if len(armored) > maxArmor {
		return nil, malformed("longer than %d bytes, so no signature", maxArmor)
	}
	if bytes.IndexByte(armored, '\r') >= 0 {
		return nil, malformed("it has carriage returns; restore the signature file's LF line ends")
	}
	if n := bytes.Count(armored, []byte(armorBegin)); n != 1 {
		return nil, malformed("%d armor blocks where exactly one must stand", n)
	}
	text, ok := bytes.CutPrefix(armored, []byte(armorBegin+"\n"))
	if !ok {
		return nil, malformed("text before or beside its first line")
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	body, ok := bytes.CutSuffix(text, []byte("\n"+armorEnd))
	if !ok {
		return nil, malformed("cut short, or followed by other text")
	}
	return decodeBody(string(body))
}

func decodeBody(body string) ([]byte, error) {
	lines := strings.Split(body, "\n")
	last := len(lines) - 1
	for i, l := range lines {
		if l == "" || len(l) > len(lines[0]) || (i < last && len(l) != len(lines[0])) {
			return nil, malformed("uneven base64 lines (line %d)", i+2)
		}
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(strings.Join(lines, ""))
	if err != nil {
		return nil, malformed("its base64 is damaged")
	}
	return blob, nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBadSignature, fmt.Sprintf(format, args...))
}
