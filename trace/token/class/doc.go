// Package class knows of every character what pre-tokenizers ask: one of eight
// classes, as Unicode 16 has them whatever the version of package unicode.
//
//	Load          the table, from 4 KB that are embedded
//	At, Of, Run   the class at a place of a text, of a character, and how far a
//	              run of classes goes
//
// Units: bytes of valid UTF-8.
//
// Not done here: other properties, and letter case.
package class
