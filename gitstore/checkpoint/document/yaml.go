package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Limits for yaml.v3, which parses 2.5 MB/s and needs up to 200 bytes per key or value.
const (
	MaxYAMLBytes  = 4 << 20
	maxYAMLNodes  = 1_000_000
	maxDirectives = 1000
	maxDocuments  = 1000 // limit for the search of a mapping in a file
)

// DecodeYAML parses YAML in any form that yaml.v3 supports.
func DecodeYAML(data []byte, l Limits, tell func(line, column int, msg string)) (Parsed, error) {
	if err := cheapChecks(data, l); err != nil {
		return Parsed{}, err
	}
	root, err := yamlNode(data, tell)
	if err != nil {
		return Parsed{}, err
	}
	r := yamlReader{limits: l, open: map[*yaml.Node]bool{}, tell: tell}
	v, err := r.value(root, 0)
	if err != nil {
		return Parsed{}, err
	}
	m, ok := v.(*Map)
	if !ok {
		return Parsed{}, syntaxError(root.Line, root.Column, "want a mapping, got "+KindOf(v))
	}
	return Parsed{m, func(path []Step) (int, int) { return whereYAML(root, path) }}, nil
}

// cheapChecks rejects expensive input before parsing.
func cheapChecks(data []byte, l Limits) error {
	if len(data) > MaxYAMLBytes {
		return syntaxError(1, 1, fmt.Sprintf("%d bytes of YAML that this program did not write, the limit is %d", len(data), MaxYAMLBytes))
	}
	// Each key or value needs at least one of these bytes.
	marks := 0
	for _, c := range data {
		switch c {
		case '\n', ',', ':', '-', '?', '[', '{':
			marks++
		}
	}
	if 2*marks > min(maxYAMLNodes, 4*l.Nodes+1000) {
		return syntaxError(1, 1, fmt.Sprintf("too many keys and values, the limit is %d", min(maxYAMLNodes/2, l.Nodes)))
	}
	// yaml.v3 compares each directive with all earlier directives.
	if bytes.Count(data, []byte("%TAG")) > maxDirectives {
		return syntaxError(1, 1, fmt.Sprintf("more than %d directives", maxDirectives))
	}
	for at, r := range string(data) {
		if !allowedInYAML(r) {
			return errorAt(data, at, fmt.Sprintf("control character U+%04X", r))
		}
	}
	return nil
}

func allowedInYAML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= '~' || r == 0x85 ||
		r >= 0xa0 && r != 0xfffe && r != 0xffff
}

// yamlNode parses the single document of data. If tell is not nil, it returns the first
// mapping of several documents.
func yamlNode(data []byte, tell func(line, column int, msg string)) (root *yaml.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	defer func() {
		// yaml.v3 panics on comments in some positions.
		if r := recover(); r != nil {
			root, err = nil, yamlError(dec, data, fmt.Errorf("yaml: %v", r))
		}
	}()
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		return nil, syntaxError(1, 1, "empty, want a mapping")
	} else if err != nil {
		return nil, yamlError(dec, data, err)
	}
	first, more := doc.Content[0], 0
	for err = dec.Decode(&second); err == nil && tell != nil && more < maxDocuments; err = dec.Decode(&second) {
		if more++; first.Kind != yaml.MappingNode && len(second.Content) > 0 {
			first = second.Content[0]
		}
		second = yaml.Node{}
	}
	switch {
	case more > 0:
		tell(first.Line, first.Column, "one of several documents: the others are kept, and not read")
	case err == nil:
		return nil, syntaxError(second.Line, second.Column, "a second document begins here, want one")
	case !errors.Is(err, io.EOF):
		return nil, yamlError(dec, data, err)
	}
	return first, nil
}

var yamlLine = Pattern(`^yaml: (?:line [0-9]+: )?`)

// yamlError returns an error of yaml.v3 with its position. The error text has no column
// and often a wrong line, so the position comes from the parser.
func yamlError(dec *yaml.Decoder, data []byte, err error) error {
	msg := yamlLine().ReplaceAllString(err.Error(), "")
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		name = strings.TrimSuffix(name, "' referenced")
		if at := bytes.Index(data, []byte("*"+name)); at >= 0 {
			return errorAt(data, at, "unknown anchor "+name)
		}
	}
	line, column := problemMark(dec)
	return syntaxError(line, column, msg)
}

// problemMark returns the position of the last problem from the decoder's private fields.
// yaml.v3 is frozen; if a field is missing, the result is the start of the text.
func problemMark(dec *yaml.Decoder) (line, column int) {
	v := reflect.ValueOf(dec)
	for _, name := range []string{"parser", "parser", "problem_mark"} {
		if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
			return 1, 1
		}
		if v = v.FieldByName(name); !v.IsValid() {
			return 1, 1
		}
	}
	l, c := v.FieldByName("line"), v.FieldByName("column")
	if !l.IsValid() || !c.IsValid() || !l.CanInt() || !c.CanInt() {
		return 1, 1
	}
	return int(l.Int()) + 1, int(c.Int()) + 1
}

// whereYAML returns the position of the node at a path.
func whereYAML(n *yaml.Node, path []Step) (line, column int) {
	for _, s := range path {
		next := childNode(n, s)
		if next == nil {
			break
		}
		n = next
	}
	return n.Line, n.Column
}

func childNode(n *yaml.Node, s Step) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for k := 0; k+1 < len(n.Content); k += 2 {
			if n.Content[k].Value == s.Key {
				return n.Content[k+1]
			}
		}
	case yaml.SequenceNode:
		if k, ok := s.indexIn(len(n.Content)); ok {
			return n.Content[k]
		}
	}
	return nil
}
