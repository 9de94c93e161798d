package rows

import "github.com/valyala/fastjson"

// Reader walks the rows of one file.
type Reader interface {
	// Next goes to the next row. An *Error is a row that cannot be read, and
	// Next may be called again; io.EOF is the end; any other error is final.
	Next() (Pos, error)
	// Names calls add with the path of every column of the row.
	Names(add func(path string))
	// Fill puts the row's mapped columns into the plan's cells. They are valid
	// until Next is called.
	Fill(p *Plan) *Error
}

// ValueReader is rows that can give the current one as JSON.
type ValueReader interface {
	Reader
	// Current is valid until Next is called.
	Current() *fastjson.Value
}

// Binder is what rows have that read no more than a plan asks for.
type Binder interface{ Bind(p *Plan) }

// Closer is what rows have that hold more than memory.
type Closer interface{ Close() }

// Damager is what rows have that go on where a part of the file is damaged.
type Damager interface {
	// Damage is what was wrong with the file, nil for nothing. It is complete at
	// the end of the rows.
	Damage() error
}
