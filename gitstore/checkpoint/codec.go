package checkpoint

import (
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/failure"
)

// Decode parses a record in YAML or JSON within DefaultLimits. It fails with
// *SyntaxError, including line and column, if a value has the wrong kind, and with
// *VersionError if the major version is not
// 1. Unknown keys are preserved. Decode does not check values of the right kind; Validate does.
func Decode(data []byte) (*Record, error) {
	d, err := document.Decode(data, DefaultLimits, nil)
	if err != nil {
		return nil, err
	}
	r := &Record{d.Root}
	if v := r.Version(); v != "" && major(v) != major(Version) {
		return nil, &VersionError{v}
	}
	if err := recordSchema().check(d.Root); err != nil {
		slices.Reverse(err.path)
		line, column := d.Where(err.path)
		return nil, &SyntaxError{Line: line, Column: column, Path: pathText(err.path), Msg: err.msg}
	}
	return r, nil
}

// Encode returns the record as canonical YAML. At every level, schema keys come first in
// schema order, then other keys in their original order. Encode parses the text again and
// compares the result.
//
// Encode fails if the record contains invalid UTF-8, a NUL, an unknown Go type or more
// than 64 levels. It fails with *SyntaxError if a value has the wrong kind, because
// Decode would reject the text.
func (r *Record) Encode() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	m := recordSchema().ordered(r.doc)
	data, err := document.Emit(m, 4096)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	if len(data) > DefaultLimits.Bytes {
		return nil, fmt.Errorf("encode record: %d bytes, the limit is %d", len(data), DefaultLimits.Bytes)
	}
	if again, line := document.ParseCanonical(data, DefaultLimits); line > 0 || !document.Equal(again, m) {
		return nil, fmt.Errorf("encode record: %w", errOwnText)
	}
	return data, nil
}

// VersionError reports a record with an unsupported schema version.
type VersionError struct{ Version string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("version %q: this program reads version 1", e.Version)
}

func (e *VersionError) Exit() (code int, hint string) { return failure.Version, failure.Upgrade }

// Documents of records, and functions that read and compare them: see package document.
type (
	Map         = document.Map
	Number      = document.Number
	Limits      = document.Limits
	SyntaxError = document.SyntaxError
)

// DefaultLimits are the limits of records.
var DefaultLimits = document.DefaultLimits

// TimeLayout is the layout of all written times: UTC, fixed width.
const TimeLayout = document.TimeLayout

func NewMap() *Map                                       { return document.NewMap() }
func Int(n int64) Number                                 { return document.Int(n) }
func Equal(a, b any) bool                                { return document.Equal(a, b) }
func ParseValue(s string) any                            { return document.ParseValue(s) }
func PathOf(parent string, key any) string               { return document.PathOf(parent, key) }
func DecodeDocument(data []byte, l Limits) (*Map, error) { return document.DecodeDocument(data, l) }

func Position(data []byte, path string) (line, column int) { return document.Position(data, path) }

func DecodeTolerant(data []byte, l Limits, tell func(line, column int, msg string)) (*Map, error) {
	return document.DecodeTolerant(data, l, tell)
}

// errOwnText reports a bug in the writer. No data was stored.
var errOwnText = errors.New("the text does not read back as it was written")
