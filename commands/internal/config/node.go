package config

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// fromNode parses a YAML value according to the key's type.
func fromNode(k *Key, n *yaml.Node) (value, error) {
	switch k.Type {
	case List:
		items, err := scalars(n)
		if err != nil {
			return value{}, err
		}
		return parseList(items)
	case Mapping:
		return mappingOf(n)
	case Outcome:
		return outcomeOf(k, n)
	}
	if n.Kind != yaml.ScalarNode || !fits(k.Type, n) {
		return value{}, fmt.Errorf("want %s, got %s", wanted(k), kindOf(n))
	}
	return parse(k, n.Value)
}

// outcomeOf parses one number of days or a sequence of two numbers.
func outcomeOf(k *Key, n *yaml.Node) (value, error) {
	parts := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 2 {
		parts = n.Content
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		if part.Kind != yaml.ScalarNode || !fits(Days, part) {
			return value{}, fmt.Errorf("want %s, got %s", wanted(k), kindOf(part))
		}
		// Otherwise a comma in a scalar would separate two numbers.
		if _, err := parseDays(part.Value); err != nil {
			return value{}, err
		}
		texts[i] = part.Value
	}
	return parse(k, strings.Join(texts, ","))
}

func mappingOf(n *yaml.Node) (value, error) {
	if n.Kind != yaml.MappingNode {
		return value{}, fmt.Errorf("want a mapping, got %s", kindOf(n))
	}
	pairs := make([][2]string, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		label, phase := n.Content[i], n.Content[i+1]
		if !isName(label) || !isName(phase) {
			return value{}, fmt.Errorf("line %d: want label: phase", label.Line)
		}
		pairs = append(pairs, [2]string{label.Value, phase.Value})
	}
	return parsePairs(pairs)
}

func scalars(n *yaml.Node) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("want a list, got %s", kindOf(n))
	}
	items := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		if !isName(item) {
			return nil, fmt.Errorf("line %d: want a name, got %s", item.Line, kindOf(item))
		}
		items = append(items, item.Value)
	}
	return items, nil
}

// isName accepts strings and integers: 1 is a valid phase name.
func isName(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!str" || n.ShortTag() == "!!int")
}

// fits reports whether the YAML notation of a scalar suits the type. Unquoted yes and off
// are strings in YAML 1.2 and count as booleans.
func fits(t Type, n *yaml.Node) bool {
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch tag := n.ShortTag(); t {
	case Bool:
		return plain && (tag == "!!bool" || tag == "!!str")
	case Int:
		return plain && tag == "!!int"
	case Days:
		return plain && (tag == "!!int" || tag == "!!str")
	default:
		return tag == "!!str"
	}
}

// wanted describes valid values of a key for error messages.
func wanted(k *Key) string {
	switch k.Type {
	case Enum:
		return orWords(k.Values)
	case Int:
		return rangeWords(k.Min, k.Max)
	case Path, Pattern:
		return "a " + k.Type.String()
	}
	return k.Type.String()
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// kindOf describes a node for error messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias, which is not allowed"
	}
	switch n.ShortTag() {
	case "!!str":
		return "text " + shown(n.Value)
	case "!!null":
		return "nothing"
	}
	return shown(n.Value)
}
