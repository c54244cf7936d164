package output

import (
	"errors"
	"fmt"
	"io"
	"reflect"
)

// head is the prefix of each record.
const head = `{"version":1,`

// Write writes a record, one of this package's structs, as one line in a single write. It
// writes nothing if encoding fails.
func Write(w io.Writer, v any) error {
	line, err := encode(v)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(line)
	return err
}

func encode(v any) ([]byte, error) {
	r := reflect.Indirect(reflect.ValueOf(v))
	if r.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is no record", v)
	}
	if t := r.FieldByName("Type"); !t.IsValid() || t.Kind() != reflect.String || t.String() == "" {
		return nil, errors.New("a record has no type")
	}
	e := encoder{plans: map[reflect.Type][]field{}}
	if err := e.object(head, r); err != nil {
		return nil, err
	}
	return append(escapeUnprintable(e.buf), '\n'), nil
}
