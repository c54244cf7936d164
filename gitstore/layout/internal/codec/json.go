package codec

import (
	"bytes"
	"encoding/json"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// DefaultIndent is the JSON indentation of all five systems.
const DefaultIndent = 2

// maxIndent limits the detected indentation.
const maxIndent = 8

// encodeJSON returns a document as JSON with a final newline. Each level is indented by
// indent columns; 0 means a single line.
func encodeJSON(m *checkpoint.Map, indent int) ([]byte, error) {
	data, err := m.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if indent > 0 {
		var b bytes.Buffer
		if err := json.Indent(&b, data, "", strings.Repeat(" ", min(indent, maxIndent))); err != nil {
			return nil, err
		}
		data = b.Bytes()
	}
	return append(data, '\n'), nil
}

// indentOf returns the indentation of a JSON text, based on the spaces before its first
// key.
func indentOf(data []byte) int {
	body := strings.TrimLeft(strings.TrimPrefix(string(data), "\ufeff"), " \t\r\n")
	rest, ok := strings.CutPrefix(body, "{")
	if !ok {
		return DefaultIndent
	}
	rest = strings.TrimPrefix(rest, "\r")
	if !strings.HasPrefix(rest, "\n") {
		return 0
	}
	blanks := len(rest[1:]) - len(strings.TrimLeft(rest[1:], " "))
	if blanks == 0 || blanks > maxIndent {
		return DefaultIndent
	}
	return blanks
}

// IsJSON reports whether data is JSON rather than YAML, with the decoder's rule.
func IsJSON(data []byte) bool {
	body := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	return len(body) > 0 && body[0] == '{'
}
