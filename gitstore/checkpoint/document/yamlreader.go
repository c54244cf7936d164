package document

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// yamlReader converts nodes to document values.
type yamlReader struct {
	limits         Limits
	nodes, aliases int
	open           map[*yaml.Node]bool // anchors of the current aliases
	tell           func(line, column int, msg string)
}

func nodeError(n *yaml.Node, format string, args ...any) error {
	return syntaxError(n.Line, n.Column, fmt.Sprintf(format, args...))
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
			return nil, nodeError(n.Content[k], "key %.60q is there twice", key)
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
		r.tell(n.Content[k].Line, n.Content[k].Column, fmt.Sprintf("key %.60q is there twice: the last one counts", key))
	}
	return m, nil
}

// keyText returns a key as text; 42 and true are ordinary keys.
func keyText(n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", nodeError(n, "want a plain key")
	case n.Tag == "!!merge":
		return "", nodeError(n, "merge keys are not read: write the keys out")
	}
	v, err := scalarValue(n)
	if s, ok := v.(string); ok {
		return s, err
	}
	return n.Value, err
}

func checkTag(n *yaml.Node, want string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != want {
		return nodeError(n, "tag %.60s is not supported", n.Tag)
	}
	return nil
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

// KindOf returns the name of a value's kind for messages.
func KindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return boolText(v)
	case Number:
		return fmt.Sprintf("the number %.40s", string(v))
	case string:
		return "text"
	case []any:
		return "a list"
	}
	return "a mapping"
}
