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
// labels that it has added and removed. A list in brackets is written anew. All other text
// stays, including comments. It fails with ErrLabelsForm, or with *checkpoint.SyntaxError if
// the file is invalid.
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
	e := labelEdit{text: string(data), lineEnd: "\n", isJSON: json.Valid(data), labels: was.Labels, add: added, remove: removed}
	if strings.Contains(e.text, "\r\n") {
		e.lineEnd = "\r\n"
	}
	if text, err = e.apply(); err == nil && !e.isDone(text) {
		err = ErrLabelsForm
	}
	return text, added, removed, err
}

// A labelEdit is a change of the labels in the text of an issue file.
type labelEdit struct {
	text, lineEnd string
	isJSON        bool
	labels        []string // labels in the text
	add, remove   []string
}

// isDone reports whether a text has the wanted labels, and no other value differs.
func (e *labelEdit) isDone(text string) bool {
	was, wasErr := checkpoint.DecodeDocument([]byte(e.text), checkpoint.Limits{Bytes: MaxBytes})
	now, nowErr := checkpoint.DecodeDocument([]byte(text), checkpoint.Limits{Bytes: MaxBytes})
	found, err := parseFile([]byte(text))
	if wasErr != nil || nowErr != nil || err != nil {
		return false
	}
	was.Delete("labels")
	now.Delete("labels")
	return slices.Equal(found.Labels, append(slices.DeleteFunc(slices.Clone(e.labels), e.isRemoved), e.add...)) && checkpoint.Equal(was, now)
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
	isFlow := root.Style&yaml.FlowStyle != 0
	for i := 0; i < len(root.Content); i += 2 {
		switch key, list := root.Content[i], root.Content[i+1]; {
		case key.Value != "labels":
		case list.Kind == yaml.SequenceNode && list.Style&yaml.FlowStyle != 0:
			return e.rewritten(list)
		case list.Kind == yaml.SequenceNode:
			return e.block(key, list)
		case list.Tag == "!!null" && !isFlow:
			return setEmpty(strings.SplitAfter(e.text, "\n"), key, e.list(nil))
		default:
			return "", ErrLabelsForm
		}
	}
	if isFlow {
		return "", ErrLabelsForm
	}
	text = e.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += e.lineEnd
	}
	return text + "labels: " + e.list(nil) + e.lineEnd, nil
}

// setEmpty sets the value of a key that has none on its line.
func setEmpty(lines []string, key *yaml.Node, value string) (string, error) {
	line := lines[key.Line-1]
	head, rest, ok := strings.Cut(line, ":")
	if !ok || !slices.Contains([]string{"", "null", "~"}, strings.TrimSpace(rest)) {
		return "", ErrLabelsForm
	}
	lines[key.Line-1] = head + ": " + value + line[len(strings.TrimRight(line, "\r\n")):]
	return strings.Join(lines, ""), nil
}

// block changes a list with one label a line.
func (e *labelEdit) block(key, list *yaml.Node) (string, error) {
	lines := strings.SplitAfter(e.text, "\n")
	last := &lines[lastLine(list)-1]
	for i, item := range list.Content {
		for n := item.Line; e.isRemoved(e.labels[i]) && n <= lastLine(item); n++ {
			lines[n-1] = ""
		}
	}
	if len(e.add) == 0 && len(e.remove) == len(list.Content) {
		return setEmpty(lines, key, "[]")
	}
	if len(e.add) > 0 && *last != "" && !strings.HasSuffix(*last, "\n") {
		*last += e.lineEnd
	}
	for _, label := range e.add {
		item := e.word(label)
		if list.Content[0].Kind == yaml.MappingNode {
			item = "name: " + item
		}
		*last += strings.Repeat(" ", list.Column-1) + "- " + item + e.lineEnd
	}
	return strings.Join(lines, ""), nil
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, lastLine(child))
	}
	return last
}

// maxEnds limits the closing brackets that rewritten takes for the end of the list.
const maxEnds = 50

// rewritten writes a list in brackets anew. Its end is the first closing bracket with which
// the result has the wanted labels and all other values.
func (e *labelEdit) rewritten(list *yaml.Node) (string, error) {
	doc, err := checkpoint.DecodeDocument([]byte(e.text), checkpoint.Limits{Bytes: MaxBytes})
	if err != nil {
		return "", err
	}
	start := 0
	for range list.Line - 1 {
		start += strings.IndexByte(e.text[start:], '\n') + 1
	}
	for range list.Column - 1 { // columns count characters
		_, size := utf8.DecodeRuneInString(e.text[start:])
		start += size
	}
	text, end := e.list(doc.List("labels")), start
	for range maxEnds {
		n := strings.IndexByte(e.text[end:], ']')
		if n < 0 || e.text[start] != '[' {
			break
		}
		end += n + 1
		edited := e.text[:start] + text + e.text[end:]
		if e.isDone(edited) && !strings.Contains(e.text[start:end], "#") { // a comment would be lost
			return edited, nil
		}
	}
	return "", ErrLabelsForm
}

// list returns the elements that stay and the added labels as a list in brackets.
func (e *labelEdit) list(elements []any) string {
	var words []string
	form := "%s"
	for i, v := range elements {
		word := e.word(e.labels[i])
		if m, ok := v.(*checkpoint.Map); ok {
			data, _ := m.MarshalJSON()
			word, form = string(data), `{"name": %s}`
		}
		if !e.isRemoved(e.labels[i]) {
			words = append(words, word)
		}
	}
	for _, label := range e.add {
		words = append(words, strings.Replace(form, "%s", e.word(label), 1))
	}
	return "[" + strings.Join(words, ", ") + "]"
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
		return `""` // isDone fails
	}
	return string(data)
}
