package issue

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"

	"gopkg.in/yaml.v3"
)

// ErrLabelsForm reports labels whose form cannot be changed without a change of other text.
var ErrLabelsForm = errors.New("the labels are written in a form that only a person can change")

// ChangeLabels returns the text of an issue file with labels added and removed, and the
// labels that it has added and removed. All other text stays, including comments. It fails
// with ErrLabelsForm, or with *checkpoint.SyntaxError if the file is invalid.
func ChangeLabels(data []byte, add, remove []string) (text string, added, removed []string, err error) {
	was, err := parseFile(data)
	if err != nil {
		return "", nil, nil, err
	}
	added = slices.DeleteFunc(slices.Clone(add), func(s string) bool { return slices.Contains(was.Labels, s) })
	removed = slices.DeleteFunc(slices.Clone(remove), func(s string) bool { return !slices.Contains(was.Labels, s) })
	if len(added)+len(removed) == 0 {
		return string(data), nil, nil, nil
	}
	e := labelEdit{text: string(data), isJSON: json.Valid(data), labels: was.Labels, add: added, remove: removed}
	if text, err = e.apply(); err == nil {
		err = e.verify(text)
	}
	return text, added, removed, err
}

// A labelEdit is a change of the labels in the text of an issue file.
type labelEdit struct {
	text        string
	isJSON      bool
	labels      []string // labels in the text
	add, remove []string
}

// verify returns ErrLabelsForm if a text has other labels than wanted, or if another value
// differs.
func (e *labelEdit) verify(text string) error {
	was, err := checkpoint.DecodeDocument([]byte(e.text), checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return err
	}
	now, err := checkpoint.DecodeDocument([]byte(text), checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return ErrLabelsForm
	}
	found, err := parseFile([]byte(text))
	want := append(slices.DeleteFunc(slices.Clone(e.labels), e.isRemoved), e.add...)
	was.Delete("labels")
	now.Delete("labels")
	if err != nil || !slices.Equal(found.Labels, want) || !checkpoint.Equal(was, now) {
		return ErrLabelsForm
	}
	return nil
}

func (e *labelEdit) isRemoved(label string) bool { return slices.Contains(e.remove, label) }

func (e *labelEdit) apply() (text string, err error) {
	defer func() {
		if recover() != nil { // yaml.v3 panics on comments in some positions
			err = ErrLabelsForm
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(e.text), &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return "", ErrLabelsForm
	}
	root := doc.Content[0]
	i := 0
	for i < len(root.Content) && root.Content[i].Value != "labels" {
		i += 2
	}
	if i >= len(root.Content) {
		if root.Style&yaml.FlowStyle != 0 {
			return "", ErrLabelsForm
		}
		text := e.text
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += e.lineEnd()
		}
		return text + "labels: " + e.added() + e.lineEnd(), nil
	}
	switch key, list := root.Content[i], root.Content[i+1]; {
	case list.Kind == yaml.SequenceNode && list.Style&yaml.FlowStyle != 0:
		return e.flow(list)
	case list.Kind == yaml.SequenceNode:
		return e.block(key, list)
	case list.Tag == "!!null" && root.Style&yaml.FlowStyle == 0:
		return e.setEmpty(key, e.added())
	}
	return "", ErrLabelsForm
}

func (e *labelEdit) setEmpty(key *yaml.Node, value string) (string, error) {
	lines := strings.SplitAfter(e.text, "\n")
	line := lines[key.Line-1]
	head, rest, ok := strings.Cut(line, ":")
	rest = strings.TrimSpace(rest)
	if !ok || rest != "" && rest != "null" && rest != "~" {
		return "", ErrLabelsForm
	}
	lines[key.Line-1] = head + ": " + value + line[len(strings.TrimRight(line, "\r\n")):]
	return strings.Join(lines, ""), nil
}

// block changes a list with one label a line.
func (e *labelEdit) block(key, list *yaml.Node) (string, error) {
	lines := strings.SplitAfter(e.text, "\n")
	last := lastLine(list)
	gone := map[int]bool{}
	for i, item := range list.Content {
		if e.isRemoved(e.labels[i]) {
			for n := item.Line; n <= lastLine(item); n++ {
				gone[n] = true
			}
		}
	}
	if len(e.add) == 0 && len(e.remove) == len(list.Content) {
		kept := labelEdit{text: e.without(lines, gone, last, "")}
		return kept.setEmpty(key, "[]")
	}
	var more strings.Builder
	for _, label := range e.add {
		item := e.word(label)
		if list.Content[0].Kind == yaml.MappingNode {
			item = "name: " + item
		}
		more.WriteString(strings.Repeat(" ", list.Column-1) + "- " + item + e.lineEnd())
	}
	return e.without(lines, gone, last, more.String()), nil
}

// without returns the lines without those that are gone, and with a text after line last.
func (e *labelEdit) without(lines []string, gone map[int]bool, last int, more string) string {
	var b strings.Builder
	for i, line := range lines {
		if !gone[i+1] {
			b.WriteString(line)
		}
		if i+1 == last && more != "" {
			if !strings.HasSuffix(b.String(), "\n") {
				b.WriteString(e.lineEnd())
			}
			b.WriteString(more)
		}
	}
	return b.String()
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, lastLine(child))
	}
	return last
}

// flow changes a list in brackets.
func (e *labelEdit) flow(list *yaml.Node) (string, error) {
	start := 0
	for range list.Line - 1 {
		start += strings.IndexByte(e.text[start:], '\n') + 1
	}
	for range list.Column - 1 { // columns count characters
		_, size := utf8.DecodeRuneInString(e.text[start:])
		start += size
	}
	items, end := flowItems(e.text, start)
	if len(items) != len(list.Content) {
		return "", ErrLabelsForm
	}
	show := e.word
	if len(items) > 0 && list.Content[0].Kind == yaml.MappingNode {
		show = e.named
	}
	var all []string
	for i, item := range items {
		if !e.isRemoved(e.labels[i]) {
			all = append(all, strings.TrimSpace(item))
		}
	}
	for _, label := range e.add {
		all = append(all, show(label))
	}
	first, separator, closing := "", ", ", ""
	if inner := e.text[start+1 : end]; strings.Contains(inner, "\n") {
		first = inner[:len(inner)-len(strings.TrimLeft(inner, " \t\r\n"))]
		separator, closing = ","+first, inner[len(strings.TrimRight(inner, " \t\r\n")):]
	}
	return e.text[:start] + "[" + first + strings.Join(all, separator) + closing + "]" + e.text[end+1:], nil
}

// flowItems returns the items of a list in brackets that begins at start, and the offset of
// its closing bracket. It returns no items if the list has a comment or no end.
func flowItems(text string, start int) (items []string, end int) {
	depth, from, quote := 0, start+1, byte(0)
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ',' && depth == 1:
			items, from = append(items, text[from:i]), i+1
		case c == '#':
			return nil, start
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				if strings.TrimSpace(text[from:i]) != "" {
					items = append(items, text[from:i])
				}
				return items, i
			}
		}
	}
	return nil, start
}

// added returns a new list in brackets.
func (e *labelEdit) added() string {
	var words []string
	for _, label := range e.add {
		words = append(words, e.word(label))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// named returns a label as a mapping in brackets.
func (e *labelEdit) named(label string) string {
	if e.isJSON {
		return `{"name": ` + e.word(label) + "}"
	}
	return "{name: " + e.word(label) + "}"
}

// plainLabel matches a label that is a text in YAML without quotes.
var plainLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+[:/-][a-zA-Z][a-zA-Z0-9_./-]*$`) })

// word returns a label as a value of the file.
func (e *labelEdit) word(label string) string {
	if !e.isJSON && plainLabel().MatchString(label) {
		return label
	}
	data, err := json.Marshal(label)
	if err != nil {
		return `""` // verify fails
	}
	return string(data)
}

func (e *labelEdit) lineEnd() string {
	if strings.Contains(e.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
