package sanitize

import (
	"encoding/binary"
	"errors"
	mathbits "math/bits"

	"reprise/sanitize/spill"
	"reprise/trace"
	"reprise/trace/block"
)

// row is a request with digests for names, as it waits for its number. Rows
// wait in bytes, in memory or in temporary files: no text is in them.
type row struct {
	req        trace.Request // no id, session, client, names and blocks yet; T as in the log
	relative   bool
	given      bool      // blocks are the source's
	session    spill.Key // keyed digest of the name; zero for none
	client     spill.Key
	id, parent spill.Key // of request ids
	call       spill.Key // that the attempts of one call share
	prompt     spill.Key // of the whole prompt
	answer     spill.Key
	attempt    int32 // from 1; 0 when the log has none
	two        twoCounts

	head
	digests []byte // of 16 bytes each, or ids of 8 where given
	fresh   int    // blocks after those, which nothing shares
}

// head is what only the collector knows of a row; it stands before the rest.
type head struct {
	file           int32 // of the input
	model, adapter int32 // numbers of names; 0 is none
}

func (h head) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(h.file))
	dst = binary.AppendUvarint(dst, uint64(h.model))
	return binary.AppendUvarint(dst, uint64(h.adapter))
}

// size is what a block takes in digests.
func (r *row) size() int {
	if r.given {
		return 8
	}
	return 16
}

// key of block i.
func (r *row) key(i int) spill.Key {
	if r.given {
		return spill.KeyOf(binary.LittleEndian.Uint64(r.digests[8*i:]))
	}
	return keyOf(block.Digest(r.digests[16*i:]))
}

func (r *row) wholeBlocks() int { return len(r.digests) / r.size() }

func keyOf(d block.Digest) spill.Key {
	return spill.Key{Hi: binary.LittleEndian.Uint64(d[:8]), Lo: binary.LittleEndian.Uint64(d[8:])}
}

// The bits of a row's first number: what is there, and the flags.
const (
	bitTime = 1 << iota
	bitRelative
	bitGiven
	bitKinds // any of api, tokens_from, finish, n other than usual
	bitStream
	bitStreamYes
	bitTools
	bitToolsYes
	bitSchema
	bitSchemaYes
	bitStatus
	bitTTFT
	bitDuration
	bitAttempt
	bitDigests
	bitFresh
	bitKey             // the first of seven digests of names and texts
	bitCount = 1 << 23 // the first of fifteen counts
)

func (r *row) keys() [7]*spill.Key {
	return [7]*spill.Key{&r.session, &r.client, &r.id, &r.parent, &r.call, &r.prompt, &r.answer}
}

func (r *row) counts() [15]*trace.Opt[int32] {
	q := &r.req
	return [15]*trace.Opt[int32]{&q.Input, &q.Output, &q.Cached, &q.Reason, &q.Media, &q.Max,
		&q.InChars, &q.OutCh, &q.Prefix, &q.ToolTok, &q.SchemaT,
		&r.two.input, &r.two.inputAlso, &r.two.output, &r.two.outputAlso}
}

// append writes r without its head behind dst; decode is the inverse.
func (r *row) append(dst []byte) []byte {
	q := &r.req
	bits := r.bits()
	dst = binary.AppendUvarint(dst, bits)
	if bits&bitTime != 0 {
		dst = binary.AppendVarint(dst, q.T.V)
	}
	if bits&bitKinds != 0 {
		dst = append(dst, byte(q.API), byte(q.From), byte(q.Finish))
		dst = binary.AppendUvarint(dst, uint64(q.N))
	}
	if bits&(bitStatus|bitTTFT|bitDuration|bitAttempt) != 0 {
		dst = r.appendTimes(dst, bits)
	}
	if bits&(bitCount-bitKey) != 0 {
		for i, k := range r.keys() {
			if bits&(bitKey<<i) != 0 {
				dst = binary.LittleEndian.AppendUint64(dst, k.Hi)
				dst = binary.LittleEndian.AppendUint64(dst, k.Lo)
			}
		}
	}
	counts := r.counts()
	for rest := bits / bitCount; rest != 0; rest &= rest - 1 {
		dst = binary.AppendVarint(dst, int64(counts[mathbits.TrailingZeros64(rest)].V))
	}
	if bits&bitFresh != 0 {
		dst = binary.AppendUvarint(dst, uint64(r.fresh))
	}
	return append(dst, r.digests...)
}

func (r *row) appendTimes(dst []byte, bits uint64) []byte {
	q := &r.req
	for _, v := range []struct {
		bit uint64
		v   int64
	}{{bitStatus, int64(q.Status.V)}, {bitTTFT, q.TTFT.V}, {bitDuration, q.Dur.V}, {bitAttempt, int64(r.attempt)}} {
		if bits&v.bit != 0 {
			dst = binary.AppendVarint(dst, v.v)
		}
	}
	return dst
}

func (r *row) bits() uint64 {
	q := &r.req
	var bits uint64
	for _, f := range []struct {
		bit uint64
		on  bool
	}{{bitTime, q.T.OK}, {bitRelative, r.relative}, {bitGiven, r.given},
		{bitKinds, q.API != 0 || q.From != 0 || q.Finish != 0 || q.N != 1},
		{bitStream, q.Stream.OK}, {bitStreamYes, q.Stream.V}, {bitTools, q.Tools.OK}, {bitToolsYes, q.Tools.V},
		{bitSchema, q.Schema.OK}, {bitSchemaYes, q.Schema.V}, {bitStatus, q.Status.OK}, {bitTTFT, q.TTFT.OK},
		{bitDuration, q.Dur.OK}, {bitAttempt, r.attempt != 0}, {bitDigests, len(r.digests) > 0}, {bitFresh, r.fresh != 0}} {
		if f.on {
			bits |= f.bit
		}
	}
	for i, k := range r.keys() {
		if *k != (spill.Key{}) {
			bits |= bitKey << i
		}
	}
	for i, c := range r.counts() {
		if c.OK {
			bits |= bitCount << i
		}
	}
	return bits
}

// errRow is a row that is not what was written.
var errRow = errors.New("a temporary file is damaged: a row cannot be read")

// fields reads numbers out of a row; bad says that it ended early.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) varint() int64 {
	v, n := binary.Varint(f.b)
	if n <= 0 {
		f.b, f.bad = nil, true
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *fields) uvarint() uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 {
		f.b, f.bad = nil, true
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *fields) take(n int) []byte {
	if len(f.b) < n {
		f.b, f.bad = nil, true
		return make([]byte, n)
	}
	b := f.b[:n]
	f.b = f.b[n:]
	return b
}

func (f *fields) key() spill.Key {
	b := f.take(16)
	return spill.Key{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])}
}

// decode reads a head and what append wrote, and returns the latter's bytes.
// The digests are part of body.
func (r *row) decode(body []byte) (rest []byte, err error) {
	*r = row{}
	f := fields{b: body}
	r.head = head{file: int32(f.uvarint()), model: int32(f.uvarint()), adapter: int32(f.uvarint())}
	rest = f.b
	bits := f.uvarint()
	q := &r.req
	if q.T.OK = bits&bitTime != 0; q.T.OK {
		q.T.V = f.varint()
	}
	r.relative, r.given = bits&bitRelative != 0, bits&bitGiven != 0
	if q.N = 1; bits&bitKinds != 0 {
		b := f.take(3)
		q.API, q.From, q.Finish = trace.API(b[0]), trace.TokensFrom(b[1]), trace.Finish(b[2])
		q.N = int16(f.uvarint())
		f.bad = f.bad || q.API > trace.Messages || q.From > trace.Estimated || q.Finish > trace.FinishCancelled
	}
	q.Stream = trace.Opt[bool]{V: bits&bitStreamYes != 0, OK: bits&bitStream != 0}
	q.Tools = trace.Opt[bool]{V: bits&bitToolsYes != 0, OK: bits&bitTools != 0}
	q.Schema = trace.Opt[bool]{V: bits&bitSchemaYes != 0, OK: bits&bitSchema != 0}
	r.times(bits, &f)
	if bits&(bitCount-bitKey) != 0 {
		for i, k := range r.keys() {
			if bits&(bitKey<<i) != 0 {
				*k = f.key()
			}
		}
	}
	counts := r.counts()
	for rest := bits / bitCount; rest != 0; rest &= rest - 1 {
		i := mathbits.TrailingZeros64(rest)
		if i >= len(counts) {
			return nil, errRow
		}
		*counts[i] = trace.Some(int32(f.varint()))
	}
	if bits&bitFresh != 0 {
		r.fresh = int(f.uvarint())
	}
	r.digests = f.b
	if f.bad || (bits&bitDigests != 0) != (len(f.b) > 0) || len(f.b)%r.size() != 0 {
		return nil, errRow
	}
	return rest, nil
}

func (r *row) times(bits uint64, f *fields) {
	q := &r.req
	get := func(bit uint64) int64 {
		if bits&bit == 0 {
			return 0
		}
		return f.varint()
	}
	q.Status = trace.Opt[int16]{V: int16(get(bitStatus)), OK: bits&bitStatus != 0}
	q.TTFT = trace.Opt[int64]{V: get(bitTTFT), OK: bits&bitTTFT != 0}
	q.Dur = trace.Opt[int64]{V: get(bitDuration), OK: bits&bitDuration != 0}
	r.attempt = int32(get(bitAttempt))
}
