package checkpoint

import (
	"errors"
	"fmt"
)

// Decode reads a record in YAML or JSON within DefaultLimits. A value of the
// wrong kind is a *SyntaxError with its line and column, a major version other
// than 1 a *VersionError. Unknown keys are kept, and what is in a field of the
// right kind is not judged: that is for Validate.
func Decode(data []byte) (*Record, error) {
	d, err := decode(data, DefaultLimits)
	if err != nil {
		return nil, err
	}
	r := &Record{d.root}
	if v := r.Version(); v != "" && major(v) != major(Version) {
		return nil, &VersionError{v}
	}
	if err := recordSchema.check(d.root); err != nil {
		return nil, err.at(d)
	}
	return r, nil
}

// errOwnText says that the writer has a bug: nothing was stored.
var errOwnText = errors.New("the text does not read back as it was written")

// Encode writes the record as canonical YAML: the keys of the schema first
// and in its order at every level, then the others in theirs. The text is
// read back and compared before it is returned. It fails for what no document
// can hold: text that is not UTF-8 or has a NUL, foreign Go types, more than
// 64 levels. Nor does it write what Decode would refuse: a value of the wrong
// kind is a *SyntaxError.
func (r *Record) Encode() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	m := recordSchema.ordered(r.doc)
	data, err := emit(m, 4096)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	if len(data) > DefaultLimits.Bytes {
		return nil, fmt.Errorf("encode record: %d bytes, the limit is %d", len(data), DefaultLimits.Bytes)
	}
	if err := verify(data, m); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return data, nil
}

// verify reads data again. The reader of the canonical form does not know
// keys of more than a thousand bytes; yaml.v3 does.
func verify(data []byte, m *Map) error {
	if m.Len() == 0 {
		return nil
	}
	again, ok := scanCanonical(data, DefaultLimits)
	if !ok {
		d, err := decode(data, DefaultLimits)
		if err != nil {
			return err
		}
		again = d.root
	}
	if !again.equal(m) {
		return errOwnText
	}
	return nil
}
