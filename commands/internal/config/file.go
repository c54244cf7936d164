package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"git-checkpoint/commands/internal/view"

	"gopkg.in/yaml.v3"
)

// files lists the names of settings files; only the first existing file is read. The
// second name belongs to another system and requires the root key.
var files = []struct {
	name string
	bare bool // root key is optional
}{
	{".checkpoint.yaml", true},
	{".claude/checkpoint-config.yaml", false},
}

// A settingsFile is the parsed settings file of a worktree. Its name appears in errors.
type settingsFile struct {
	name    string // "" if there is no file
	values  []fileValue
	unknown []*SettingError // keys that are no settings
}

// readFile reads the settings file of the worktree at root. os.Root rejects symlinks that
// lead out of the worktree.
func readFile(root string) (settingsFile, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return settingsFile{}, &SettingError{File: shown(root), Msg: err.Error()}
	}
	defer dir.Close()
	for _, f := range files {
		data, err := readIn(dir, f.name)
		if _, statErr := os.Stat(filepath.Join(root, f.name)); absent(err) || err != nil && absent(statErr) {
			continue // os.Root also rejects a symlinked .claude directory outside the worktree that has no settings file
		}
		if err != nil {
			return settingsFile{}, &SettingError{File: f.name, Msg: err.Error()}
		}
		return parseFile(f.name, data, f.bare)
	}
	return settingsFile{}, nil
}

// fileValue is a parsed setting from a file before its trust check.
type fileValue struct {
	key          int
	name         string // name of the key in the file
	value        value
	line, column int
}

// maxFile limits the size of a settings file in bytes.
const maxFile = 1 << 20

func readIn(dir *os.Root, name string) (data []byte, err error) {
	info, err := dir.Stat(name) // opening a FIFO would block until a writer opens it
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() > maxFile:
		err = fmt.Errorf("larger than %d bytes", maxFile)
	default:
		data, err = dir.ReadFile(name)
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) { // the message contains the path already
		if _, system := e.Err.(syscall.Errno); system {
			return data, e.Err
		}
		err = fmt.Errorf("leads out of the worktree: %w", e.Err)
	}
	return data, err
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// parseFile parses the settings of a worktree file: one YAML or JSON mapping without
// aliases. The root key is optional if bare is true. Unknown keys are no error. With an
// error in a single setting, the other settings are returned too.
func parseFile(name string, data []byte, bare bool) (f settingsFile, err error) {
	f.name = name
	top, err := f.document(data)
	if err != nil || top == nil {
		return f, err
	}
	body, err := f.body(top, bare)
	if err != nil || body == nil {
		return f, err
	}
	return f, f.section(body, "")
}

// maxDirectives limits directives, because yaml.v3 compares each with all earlier
// directives. A file in a clone could otherwise slow down every command.
const maxDirectives = 100

// document decodes the mapping of the only document, or returns nil for an empty file.
func (f *settingsFile) document(data []byte) (top *yaml.Node, err error) {
	if bytes.Count(data, []byte("%TAG")) > maxDirectives {
		return nil, &SettingError{File: f.name, Msg: fmt.Sprintf("more than %d directives", maxDirectives)}
	}
	defer func() {
		// yaml.v3 panics on some misplaced comments.
		if r := recover(); r != nil {
			top, err = nil, &SettingError{File: f.name, Msg: fmt.Sprint(r)}
		}
	}()
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, f.syntax(err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, f.syntax(err)
		}
		return nil, f.fail(&more, "", "a second document is not allowed")
	}
	top = doc.Content[0]
	if isNull(top) {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, f.fail(top, "", "want a mapping, got "+kindOf(top))
	}
	return top, nil
}

// syntax converts a decoder error, whose text contains the line number, to a
// SettingError.
func (f *settingsFile) syntax(err error) error {
	e := &SettingError{File: f.name, Msg: strings.TrimPrefix(err.Error(), "yaml: ")}
	var line int
	if n, _ := fmt.Sscanf(e.Msg, "line %d:", &line); n == 1 {
		_, rest, _ := strings.Cut(e.Msg, ": ")
		e.Line, e.Msg = line, rest
	}
	return e
}

func (f *settingsFile) fail(n *yaml.Node, key, msg string) *SettingError {
	return &SettingError{File: f.name, Line: n.Line, Column: n.Column, Key: key, Msg: msg}
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

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

// rootKey is the top-level key of the settings in a file.
const rootKey = "checkpoint"

// body returns the mapping of settings, below the root key if present.
func (f *settingsFile) body(top *yaml.Node, bare bool) (*yaml.Node, error) {
	rooted := false
	for i := 0; i+1 < len(top.Content); i += 2 {
		rooted = rooted || top.Content[i].Value == rootKey
	}
	if !rooted && bare {
		return top, nil
	}
	var body *yaml.Node
	for i := 0; i+1 < len(top.Content); i += 2 {
		key := top.Content[i]
		switch {
		case key.Value != rootKey:
			return nil, f.fail(key, shown(key.Value), "only "+rootKey+" may stand at the top, with the settings under it")
		case body != nil:
			return nil, f.fail(key, rootKey, "stands there twice")
		}
		body = top.Content[i+1]
	}
	if body == nil || isNull(body) {
		return nil, nil
	}
	if body.Kind != yaml.MappingNode {
		return nil, f.fail(body, rootKey, "want a mapping, got "+kindOf(body))
	}
	return body, nil
}

// section parses the keys of one mapping and returns the first error; prefix ends in "."
// or is empty.
func (f *settingsFile) section(m *yaml.Node, prefix string) error {
	var first error
	seen := make(map[string]bool, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		first = cmp.Or(first, f.pair(m.Content[i], m.Content[i+1], prefix, seen))
	}
	return first
}

// pair parses one key of a section, unless the section has the key before.
func (f *settingsFile) pair(key, val *yaml.Node, prefix string, seen map[string]bool) error {
	if key.Kind != yaml.ScalarNode {
		return f.fail(key, strings.TrimSuffix(prefix, "."), "a key must be text, got "+kindOf(key))
	}
	name := prefix + key.Value
	if seen[name] {
		return f.fail(key, shown(name), "stands there twice")
	}
	seen[name] = true
	return f.entry(name, prefix == "", key, val)
}

// entry parses one key: a setting or a section.
func (f *settingsFile) entry(name string, top bool, key, val *yaml.Node) error {
	if i := indexOf(func(k *Key) bool { return k.Name == name || k.Crunch == name }); i >= 0 {
		if section, rest, ok := strings.Cut(table()[i].Name, "."); ok && top && strings.Contains(name, ".") {
			return f.fail(key, name, "write it as "+section+": {"+rest+": ...}")
		}
		if isNull(val) {
			return nil
		}
		v, err := fromNode(&table()[i], val)
		if err != nil {
			return f.fail(val, name, err.Error())
		}
		v.source, v.origin = fromFile, f.name+":"+strconv.Itoa(val.Line)
		f.values = append(f.values, fileValue{key: i, name: name, value: v, line: val.Line, column: val.Column})
		return nil
	}
	isIn := func(k *Key) bool { return strings.HasPrefix(k.Name, name+".") || strings.HasPrefix(k.Crunch, name+".") }
	if !top || indexOf(isIn) < 0 { // no section
		f.unknown = append(f.unknown, f.fail(key, shown(name), unknown(name, inFile)))
		return nil
	}
	switch {
	case isNull(val):
		return nil
	case val.Kind != yaml.MappingNode:
		return f.fail(val, name, "want a mapping, got "+kindOf(val))
	}
	return f.section(val, name+".")
}

// fromNode parses a YAML value according to the key's type. A scalar is read as in the other
// sources.
func fromNode(k *Key, n *yaml.Node) (value, error) {
	isSequence, isMapping := n.Kind == yaml.SequenceNode, n.Kind == yaml.MappingNode
	texts := make([]string, len(n.Content))
	if isSequence && (k.Type == List || k.Type == Outcome) || isMapping && k.Type == Mapping {
		for i, item := range n.Content {
			if item.Kind != yaml.ScalarNode || isNull(item) {
				return value{}, fmt.Errorf("line %d: want a name, got %s", item.Line, kindOf(item))
			}
			texts[i] = item.Value
		}
	}
	switch {
	case isSequence && k.Type == List:
		return parseList(texts)
	case isSequence && k.Type == Outcome && len(texts) == 2:
		return parse(k, strings.Join(texts, ","))
	case isMapping && k.Type == Mapping:
		var pairs [][2]string
		for pair := range slices.Chunk(texts, 2) {
			pairs = append(pairs, [2]string(pair))
		}
		return parsePairs(pairs)
	case n.Kind == yaml.ScalarNode && k.Type != List && k.Type != Mapping:
		return parse(k, n.Value)
	}
	want := k.Type.String()
	switch k.Type {
	case Enum:
		want = view.OneOf(k.Values)
	case List, Mapping, Path, Pattern:
		want = "a " + want
	}
	return value{}, fmt.Errorf("want %s, got %s", want, kindOf(n))
}
