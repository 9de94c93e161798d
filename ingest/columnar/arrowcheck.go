package columnar

import (
	"encoding/binary"
	"errors"
)

// flatBuffer is a FlatBuffers message that is checked before it is trusted: tables
// and vectors lie inside it, and nothing is nested too deep. Numbers of fields
// are those of the Arrow format's Message.fbs and Schema.fbs.
type flatBuffer struct {
	b     []byte
	left  int // tables that may still come
	depth int
}

var errFlat = errors.New("a message's description is damaged")

// checkMessage checks a message and returns the length of its body. Batches have
// as many counts of views, at least, as there are columns of views.
func checkMessage(b []byte, views, dictionaryViews int) (size int64, err error) {
	f := &flatBuffer{b: b, left: 1 << 18}
	root, err := f.follow(0)
	if err != nil {
		return 0, err
	}
	var kind byte
	if at, err := f.slot(root, 1, 1); err != nil || at == 0 {
		return 0, errFlat
	} else {
		kind = b[at]
	}
	header, err := f.table(root, 2)
	if err != nil || header == 0 {
		return 0, errFlat
	}
	if at, err := f.slot(root, 3, 8); err != nil {
		return 0, err
	} else if at > 0 {
		size = int64(binary.LittleEndian.Uint64(b[at:]))
	}
	if err := f.pairs(root, 4); err != nil {
		return 0, err
	}
	switch kind {
	case 1:
		return size, f.schema(header)
	case 2: // a dictionary: its data is a batch
		batch, err := f.table(header, 1)
		if err != nil || batch == 0 {
			return 0, errFlat
		}
		return size, f.batch(batch, dictionaryViews)
	case 3:
		return size, f.batch(header, views)
	}
	return 0, errors.New("a message of a kind that holds no rows")
}

func (f *flatBuffer) schema(at int) error {
	if err := f.fields(at, 1); err != nil {
		return err
	}
	if err := f.pairs(at, 2); err != nil {
		return err
	}
	_, _, err := f.vector(at, 3, 8)
	return err
}

// fields checks a vector of columns and what is below them.
func (f *flatBuffer) fields(parent, n int) error {
	if f.depth++; f.depth > maxSchemaDepth {
		return errors.New("its columns are nested too deep")
	}
	defer func() { f.depth-- }()
	return f.each(parent, n, func(at int) error {
		if _, _, err := f.vector(at, 0, 1); err != nil { // its name
			return err
		}
		if err := f.typed(at); err != nil {
			return err
		}
		dictionary, err := f.table(at, 4)
		if err != nil {
			return err
		}
		if dictionary > 0 {
			if _, err := f.table(dictionary, 1); err != nil {
				return err
			}
		}
		if err := f.fields(at, 5); err != nil {
			return err
		}
		return f.pairs(at, 6)
	})
}

// typed checks a column's type, of which two hold vectors: the zone of a
// timestamp and the codes of a union.
func (f *flatBuffer) typed(at int) error {
	kind, err := f.slot(at, 2, 1)
	if err != nil || kind == 0 {
		return errFlat
	}
	t, err := f.table(at, 3)
	if err != nil || t == 0 {
		return errFlat
	}
	switch f.b[kind] {
	case 10:
		_, _, err = f.vector(t, 1, 1)
	case 14:
		_, _, err = f.vector(t, 1, 4)
	}
	return err
}

// batch checks the lists of nodes and buffers.
func (f *flatBuffer) batch(at, views int) error {
	if _, _, err := f.vector(at, 1, 16); err != nil {
		return err
	}
	_, buffers, err := f.vector(at, 2, 16)
	if err != nil {
		return err
	}
	counts, n, err := f.vector(at, 4, 8)
	if err != nil || n < views {
		return errFlat
	}
	for i := range n {
		if binary.LittleEndian.Uint64(f.b[counts+8*i:]) > uint64(buffers) {
			return errFlat
		}
	}
	_, err = f.table(at, 3)
	return err
}

// pairs checks a vector of keys and values.
func (f *flatBuffer) pairs(parent, n int) error {
	return f.each(parent, n, func(at int) error {
		if _, _, err := f.vector(at, 0, 1); err != nil {
			return err
		}
		_, _, err := f.vector(at, 1, 1)
		return err
	})
}

// each checks every table of a vector.
func (f *flatBuffer) each(parent, n int, check func(at int) error) error {
	at, count, err := f.vector(parent, n, 4)
	if err != nil {
		return err
	}
	for i := range count {
		t, err := f.follow(at + 4*i)
		if err != nil {
			return err
		}
		if err := check(t); err != nil {
			return err
		}
	}
	return nil
}

// follow goes to the table that an offset points to, and checks its own table of
// fields.
func (f *flatBuffer) follow(at int) (int, error) {
	to, err := f.jump(at)
	if err != nil || to+4 > len(f.b) {
		return 0, errFlat
	}
	if f.left--; f.left < 0 {
		return 0, errFlat
	}
	v := to - int(int32(binary.LittleEndian.Uint32(f.b[to:])))
	if v < 0 || v+4 > len(f.b) {
		return 0, errFlat
	}
	fields, size := int(binary.LittleEndian.Uint16(f.b[v:])), int(binary.LittleEndian.Uint16(f.b[v+2:]))
	if fields < 4 || fields%2 != 0 || v+fields > len(f.b) || size < 4 || to+size > len(f.b) {
		return 0, errFlat
	}
	return to, nil
}

func (f *flatBuffer) jump(at int) (int, error) {
	if at < 0 || at+4 > len(f.b) {
		return 0, errFlat
	}
	to := at + int(binary.LittleEndian.Uint32(f.b[at:]))
	if to+4 > len(f.b) {
		return 0, errFlat
	}
	return to, nil
}

// slot is where field n of a table lies, 0 when the table does not have it.
func (f *flatBuffer) slot(table, n, size int) (int, error) {
	v := table - int(int32(binary.LittleEndian.Uint32(f.b[table:])))
	if 4+2*n+2 > int(binary.LittleEndian.Uint16(f.b[v:])) {
		return 0, nil
	}
	at := int(binary.LittleEndian.Uint16(f.b[v+4+2*n:]))
	if at == 0 {
		return 0, nil
	}
	if at < 4 || at+size > int(binary.LittleEndian.Uint16(f.b[v+2:])) {
		return 0, errFlat
	}
	return table + at, nil
}

// table is the table in field n, 0 when there is none.
func (f *flatBuffer) table(parent, n int) (int, error) {
	at, err := f.slot(parent, n, 4)
	if err != nil || at == 0 {
		return 0, err
	}
	return f.follow(at)
}

// vector is where the items in field n begin, and how many there are.
func (f *flatBuffer) vector(parent, n, size int) (at, count int, err error) {
	slot, err := f.slot(parent, n, 4)
	if err != nil || slot == 0 {
		return 0, 0, err
	}
	if at, err = f.jump(slot); err != nil {
		return 0, 0, err
	}
	count = int(binary.LittleEndian.Uint32(f.b[at:]))
	if at += 4; count > (len(f.b)-at)/size {
		return 0, 0, errFlat
	}
	return at, count, nil
}
