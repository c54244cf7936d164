package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Settings are JSON with comments and trailing commas, as editors write it. hujson keeps the bytes
// between the values, so that a change leaves all other bytes as they are. The text between the
// last value and the closing bracket belongs to the container.

var (
	errJSON     = errors.New("not a JSON object with comments")
	errNoObject = errors.New("not an object")
	errNoArray  = errors.New("not an array")
)

const byteOrderMark = "\ufeff"

// maxContainers limits the objects and arrays of a text, and so their depth: hujson recurses.
const maxContainers = 100_000

// parseJSON parses a complete text. A byte order mark is a part of the text before the value.
func parseJSON(text string) (*hujson.Value, error) {
	if strings.Count(text, "[")+strings.Count(text, "{") > maxContainers {
		return nil, errJSON
	}
	body := strings.TrimPrefix(text, byteOrderMark)
	root, err := hujson.Parse([]byte(body))
	if err != nil {
		ended, endedErr := hujson.Parse([]byte(body + "\n")) // hujson rejects a last comment without a line end
		if endedErr != nil {
			return nil, fmt.Errorf("%w: %s", errJSON, strings.TrimPrefix(err.Error(), "hujson: "))
		}
		ended.AfterExtra = bytes.TrimSuffix(ended.AfterExtra, []byte("\n"))
		root = ended
	}
	root.BeforeExtra = slices.Concat(hujson.Extra(text[:len(text)-len(body)]), root.BeforeExtra)
	return &root, nil
}

// syntaxError adds line and column of an offset to err.
func syntaxError(err error, text string, at int) error {
	before := text[:min(at, len(text))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%w: line %d, column %d", err, line, column)
}

// find returns the value at a path of members, or nil.
func find(v *hujson.Value, path ...string) *hujson.Value {
	for _, name := range path {
		i := memberAt(v, name)
		if i < 0 {
			return nil
		}
		v = &v.Value.(*hujson.Object).Members[i].Value
	}
	return v
}

// memberAt returns the index of an object's member, or -1. The last duplicate counts, as in JSON
// parsers of agents.
func memberAt(v *hujson.Value, name string) int {
	if v == nil || v.Value.Kind() != '{' {
		return -1
	}
	members := v.Value.(*hujson.Object).Members
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// elements returns the elements of an array, or nil for another value.
func elements(v *hujson.Value) []hujson.Value {
	if v == nil || v.Value.Kind() != '[' {
		return nil
	}
	return v.Value.(*hujson.Array).Elements
}

// textAt returns the text at a path of members, or "".
func textAt(v *hujson.Value, path ...string) string {
	if v = find(v, path...); v != nil && v.Value.Kind() == '"' {
		return v.Value.(hujson.Literal).String()
	}
	return ""
}

// addElement appends an element to the array at a path of members. It creates missing objects and
// the array.
func addElement(text string, path []string, element any) (string, error) {
	root, err := parseJSON(text)
	if err != nil {
		return "", err
	}
	in := root
	for i, key := range path {
		if in.Value.Kind() != '{' {
			return "", syntaxError(errNoObject, text, offset(text, in))
		}
		next := find(in, key)
		if next == nil {
			value := any([]any{element})
			for _, key := range slices.Backward(path[i+1:]) {
				value = map[string]any{key: value}
			}
			addItem(root, in, key, value)
			return root.String(), nil
		}
		in = next
	}
	if in.Value.Kind() != '[' {
		return "", syntaxError(errNoArray, text, offset(text, in))
	}
	addItem(root, in, "", element)
	return root.String(), nil
}

// offset returns the offset of a parsed value in its text.
func offset(text string, v *hujson.Value) int {
	return len(text) - len(strings.TrimPrefix(text, byteOrderMark)) + v.StartOffset
}

// addItem appends an item to an object or array. A container with items determines the layout of the
// item. Comments behind the last item stay before the new one.
func addItem(root, in *hujson.Value, key string, value any) {
	item, end := hujson.Value{}, tailOf(in)
	lineEnd, indent, broken := "", "", false
	if n := count(in); n > 0 {
		before, after := extras(in, n-1)
		item.BeforeExtra = hujson.Extra(" ")
		if lineEnd, indent, broken = layout(*before); broken {
			kept := bytes.TrimRight(*end, blanks)
			item.BeforeExtra = slices.Concat(kept, hujson.Extra(lineEnd+indent))
			*end = (*end)[len(kept):]
		}
		if *after != nil { // a trailing comma
			item.AfterExtra = hujson.Extra{}
		}
	}
	step := ""
	if broken {
		step = "  "
		if before, _ := extras(root, 0); before != nil {
			if _, first, ok := layout(*before); ok && first != "" {
				step = first
			}
		}
	}
	item.Value = hujson.Literal(pretty(value, indent, step, lineEnd))
	switch c := in.Value.(type) {
	case *hujson.Object:
		name := hujson.Value{BeforeExtra: item.BeforeExtra, Value: hujson.String(key)}
		item.BeforeExtra = hujson.Extra(" ")
		c.Members = append(c.Members, hujson.ObjectMember{Name: name, Value: item})
	case *hujson.Array:
		c.Elements = append(c.Elements, item)
	}
}

// removeItem removes item i of a container with its comma and white space. Comments before it and
// before its comma stay.
func removeItem(in *hujson.Value, i int) {
	before, after := extras(in, i)
	kept, comma, end := *before, *after != nil, tailOf(in)
	if hasComment(*after) {
		kept = slices.Concat(kept, *after)
	}
	switch c := in.Value.(type) {
	case *hujson.Object:
		c.Members = slices.Delete(c.Members, i, i+1)
	case *hujson.Array:
		c.Elements = slices.Delete(c.Elements, i, i+1)
	}
	n := count(in)
	if i < n {
		next, _ := extras(in, i)
		*next = slices.Concat(kept, bytes.TrimLeft(*next, blanks))
		return
	}
	trimmed := bytes.TrimRight(kept, blanks)
	if !bytes.HasPrefix(bytes.TrimLeft(*end, " \t\r"), []byte("\n")) && bytes.Contains(trimmed[bytes.LastIndexByte(trimmed, '\n')+1:], []byte("//")) {
		trimmed = kept[:len(trimmed)+bytes.IndexByte(kept[len(trimmed):], '\n')+1] // the comment ends with the line
	}
	*end = slices.Concat(trimmed, *end)
	switch {
	case isEmpty(in):
		*end = nil
	case n > 0:
		_, last := extras(in, n-1)
		if comma {
			*last = append(hujson.Extra{}, *last...)
		} else { // the text before the comma of the removed item
			*end, *last = slices.Concat(*last, *end), nil
		}
	}
}

// prune removes the containers at the end of a path of members that are empty and have no comment,
// unless the original has them.
func prune(root, original *hujson.Value, path []string) {
	for n := len(path) - 1; n >= 0; n-- {
		in, i := find(root, path[:n]...), memberAt(find(root, path[:n]...), path[n])
		if i < 0 || !isEmpty(find(in, path[n])) || find(original, path[:n+1]...) != nil {
			return
		}
		removeItem(in, i)
	}
}

const blanks = " \t\r\n"

// count returns the number of items of a container.
func count(v *hujson.Value) int {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return len(c.Members)
	case *hujson.Array:
		return len(c.Elements)
	}
	return 0
}

// isEmpty reports whether a container has no items and no comments.
func isEmpty(v *hujson.Value) bool { return count(v) == 0 && !hasComment(*tailOf(v)) }

func hasComment(text hujson.Extra) bool { return len(bytes.TrimSpace(text)) > 0 }

// extras returns the texts before an item of a container, and before its comma. The second one is
// nil for the last item without a comma. Both pointers are nil for a missing item.
func extras(v *hujson.Value, i int) (before, after *hujson.Extra) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if i < len(c.Members) {
			return &c.Members[i].Name.BeforeExtra, &c.Members[i].Value.AfterExtra
		}
	case *hujson.Array:
		if i < len(c.Elements) {
			return &c.Elements[i].BeforeExtra, &c.Elements[i].AfterExtra
		}
	}
	return nil, nil
}

// tailOf returns the text before the closing bracket of a container.
func tailOf(v *hujson.Value) *hujson.Extra {
	if a, ok := v.Value.(*hujson.Array); ok {
		return &a.AfterExtra
	}
	return &v.Value.(*hujson.Object).AfterExtra
}

// layout returns the line end and the indentation before an item, if it is the first on its line.
func layout(before hujson.Extra) (lineEnd, indent string, broken bool) {
	text := string(before)
	start := strings.LastIndexByte(text, '\n') + 1
	if indent = text[start:]; start == 0 || strings.Trim(indent, " \t") != "" {
		return "", "", false
	}
	if strings.HasSuffix(text[:start], "\r\n") {
		return "\r\n", indent, true
	}
	return "\n", indent, true
}

// pretty returns a value as JSON, on one line if step is "".
func pretty(value any, indent, step, lineEnd string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(indent, step)
	_ = e.Encode(value) // strings, numbers, maps and lists
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", lineEnd)
}
