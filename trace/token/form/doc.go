// Package form brings text into the normal forms NFC, NFD, NFKC and NFKD as
// tokenizers compute them: with the tables of HuggingFace tokenizers, or with
// those of golang.org/x/text, and without the latter's breaking of long runs of
// marks, by which ids would differ.
//
// A Form is made once, in some milliseconds, and then used by any number of
// goroutines. Text that has the form is returned as it is.
//
// Units: valid UTF-8. Source: Unicode Standard Annex #15.
//
// Not done here: case, and the other steps of a normalizer.
package form
