package trace

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// AliasKind says what a name of a model or an adapter is.
type AliasKind uint8

// A name stands for itself; or it is an alias by first appearance in its log,
// which tells nothing about the same alias of another log; or one by a keyed
// digest, the same in every log under one key.
const (
	NoAlias AliasKind = iota
	Numbered
	Keyed
)

// keyedDigits are the hexadecimal digits of a keyed alias: at a thousand names
// the chance that any two are taken for one is 5e-7.
const keyedDigits = 10

// NumberedAlias is the n-th alias of its kind: model1, adapter2.
func NumberedAlias(kind string, n int) string { return kind + strconv.Itoa(n) }

// KeyedAlias is the alias of a name by its keyed digest: model-3f9a1c0b22.
// Without the key it tells nothing about the name; it says of two logs that they
// have the same one.
func KeyedAlias(kind string, digest [16]byte) string {
	return kind + "-" + hex.EncodeToString(digest[:])[:keyedDigits]
}

// AliasOf says what a name is; kind is model or adapter. A real name of the form
// of an alias is taken for one.
func AliasOf(kind, name string) AliasKind {
	rest, ok := strings.CutPrefix(name, kind)
	switch {
	case !ok || rest == "":
		return NoAlias
	case strings.Trim(rest, "0123456789") == "":
		return Numbered
	case len(rest) == 1+keyedDigits && rest[0] == '-' && strings.Trim(rest[1:], "0123456789abcdef") == "":
		return Keyed
	}
	return NoAlias
}
