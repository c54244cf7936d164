package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
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

// KindOf returns the name of a value's kind for messages.
func KindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case Number:
		return fmt.Sprintf("the number %.40s", string(v))
	case string:
		return "text"
	case []any:
		return "a list"
	}
	return "a mapping"
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
		switch {
		case r == '\t', r == '\n', r == '\r', r >= ' ' && r <= '~', r == 0x85, r >= 0xa0 && r != 0xfffe && r != 0xffff:
		default:
			return errorAt(data, at, fmt.Sprintf("control character U+%04X", r))
		}
	}
	return nil
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
		tell(first.Line, first.Column, "one of several documents: the others are kept but not read")
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

// yamlReader converts nodes to document values.
type yamlReader struct {
	limits         Limits
	nodes, aliases int
	open           map[*yaml.Node]bool // anchors of the current aliases
	tell           func(line, column int, msg string)
}

func (r *yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if r.nodes++; r.nodes > r.limits.Nodes {
		return nil, nodeError(n, "more than %d keys and values", r.limits.Nodes)
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return scalarValue(n)
	case yaml.AliasNode:
		return r.alias(n, depth)
	}
	if depth >= r.limits.Depth {
		return nil, nodeError(n, "more than %d levels deep", r.limits.Depth)
	}
	if n.Kind == yaml.SequenceNode {
		return r.list(n, depth+1)
	}
	return r.mapping(n, depth+1)
}

func nodeError(n *yaml.Node, format string, args ...any) error {
	return syntaxError(n.Line, n.Column, fmt.Sprintf(format, args...))
}

const quotedStyles = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func scalarValue(n *yaml.Node) (any, error) {
	if strings.IndexByte(n.Value, 0) >= 0 {
		return nil, nodeError(n, "NUL in a text")
	}
	if n.Style&yaml.TaggedStyle != 0 {
		return taggedValue(n)
	}
	if n.Style&quotedStyles != 0 {
		return n.Value, nil
	}
	return plainValue(n.Value), nil
}

// taggedValue returns the value of a tagged scalar. It fails if value and tag disagree.
func taggedValue(n *yaml.Node) (any, error) {
	v := plainValue(n.Value)
	ok := false
	switch n.Tag {
	case "!!str", "!!timestamp":
		return n.Value, nil
	case "!!int", "!!float":
		_, ok = v.(Number)
	case "!!bool":
		_, ok = v.(bool)
	case "!!null":
		ok = v == nil
	default:
		return nil, checkTag(n, "")
	}
	if !ok {
		return nil, nodeError(n, "%.40q is not what its tag %s says", n.Value, n.Tag)
	}
	return v, nil
}

// plainValue returns the value of an unquoted scalar.
func plainValue(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if isNumber(s) {
		return Number(s)
	}
	return s
}

func checkTag(n *yaml.Node, want string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != want {
		return nodeError(n, "tag %.60s is not supported", n.Tag)
	}
	return nil
}

func (r *yamlReader) alias(n *yaml.Node, depth int) (any, error) {
	if r.aliases++; r.aliases > r.limits.Aliases {
		return nil, nodeError(n, "more than %d aliases", r.limits.Aliases)
	}
	if r.open[n.Alias] {
		return nil, nodeError(n, "anchor %s contains itself", n.Value)
	}
	r.open[n.Alias] = true
	defer delete(r.open, n.Alias)
	return r.value(n.Alias, depth)
}

func (r *yamlReader) list(n *yaml.Node, depth int) (any, error) {
	if err := checkTag(n, "!!seq"); err != nil {
		return nil, err
	}
	l := make([]any, 0, len(n.Content))
	for _, c := range n.Content {
		v, err := r.value(c, depth)
		if err != nil {
			return nil, err
		}
		l = append(l, v)
	}
	return l, nil
}

func (r *yamlReader) mapping(n *yaml.Node, depth int) (any, error) {
	if err := checkTag(n, "!!map"); err != nil {
		return nil, err
	}
	m := NewMap()
	for k := 0; k+1 < len(n.Content); k += 2 {
		key, err := keyText(n.Content[k])
		if err != nil {
			return nil, err
		}
		twice := m.Find(key) >= 0
		if twice && r.tell == nil {
			return nil, nodeError(n.Content[k], "key %.60q is a duplicate", key)
		}
		r.nodes++
		v, err := r.value(n.Content[k+1], depth)
		if err != nil {
			return nil, err
		}
		if !twice {
			m.Add(key, v)
			continue
		}
		m.Set(key, v)
		r.tell(n.Content[k].Line, n.Content[k].Column, fmt.Sprintf("key %.60q is a duplicate: the last one counts", key))
	}
	return m, nil
}

// keyText returns a key as text; 42 and true are ordinary keys.
func keyText(n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", nodeError(n, "want a scalar key")
	case n.Tag == "!!merge":
		return "", nodeError(n, "merge keys are not supported: write the keys out")
	}
	v, err := scalarValue(n)
	if s, ok := v.(string); ok {
		return s, err
	}
	return n.Value, err
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
