package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// rootKey is the top-level key of the settings in a file.
const rootKey = "checkpoint"

// fileValue is a parsed setting from a file before its trust check.
type fileValue struct {
	key          int
	value        value
	line, column int
}

// fileParser collects the settings of a document; name appears in errors.
type fileParser struct {
	name   string
	values []fileValue
}

// parseFile parses the settings of a worktree file: one YAML or JSON mapping without
// aliases. The root key is optional if bare is true.
func parseFile(name string, data []byte, bare bool) ([]fileValue, error) {
	p := &fileParser{name: name}
	top, err := p.document(data)
	if err != nil || top == nil {
		return nil, err
	}
	body, err := p.body(top, bare)
	if err != nil || body == nil {
		return nil, err
	}
	if err := p.section(body, ""); err != nil {
		return nil, err
	}
	return p.values, nil
}

// maxDirectives limits directives, because yaml.v3 compares each with all earlier
// directives. A file in a clone could otherwise slow down every command.
const maxDirectives = 100

// document decodes the mapping of the only document, or returns nil for an empty file.
func (p *fileParser) document(data []byte) (top *yaml.Node, err error) {
	if bytes.Count(data, []byte("%TAG")) > maxDirectives {
		return nil, &SettingError{File: p.name, Msg: fmt.Sprintf("more than %d directives", maxDirectives)}
	}
	defer func() {
		// yaml.v3 panics on some misplaced comments.
		if r := recover(); r != nil {
			top, err = nil, &SettingError{File: p.name, Msg: fmt.Sprint(r)}
		}
	}()
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, p.syntax(err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, p.syntax(err)
		}
		return nil, p.fail(&more, "", "a second document is not allowed")
	}
	top = doc.Content[0]
	if isNull(top) {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, p.fail(top, "", "want a mapping, got "+kindOf(top))
	}
	return top, nil
}

// body returns the mapping of settings, below the root key if present.
func (p *fileParser) body(top *yaml.Node, bare bool) (*yaml.Node, error) {
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
			return nil, p.fail(key, shown(key.Value), "only "+rootKey+" may stand at the top, with the settings under it")
		case body != nil:
			return nil, p.fail(key, rootKey, "stands there twice")
		}
		body = top.Content[i+1]
	}
	if body == nil || isNull(body) {
		return nil, nil
	}
	if body.Kind != yaml.MappingNode {
		return nil, p.fail(body, rootKey, "want a mapping, got "+kindOf(body))
	}
	return body, nil
}

// section parses the keys of one mapping; prefix ends in "." or is empty.
func (p *fileParser) section(m *yaml.Node, prefix string) error {
	seen := make(map[string]bool, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, val := m.Content[i], m.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return p.fail(key, strings.TrimSuffix(prefix, "."), "a key must be text, got "+kindOf(key))
		}
		name := prefix + key.Value
		if seen[name] {
			return p.fail(key, shown(name), "stands there twice")
		}
		seen[name] = true
		if err := p.entry(name, prefix == "", key, val); err != nil {
			return err
		}
	}
	return nil
}

// entry parses one key: a setting or a section.
func (p *fileParser) entry(name string, top bool, key, val *yaml.Node) error {
	if i := find(name); i >= 0 {
		if section, rest, ok := strings.Cut(name, "."); ok && top {
			return p.fail(key, name, "write it as "+section+": {"+rest+": ...}")
		}
		return p.setting(i, val)
	}
	if !top || !isSection(name) {
		return p.fail(key, shown(name), unknown(name, func(k *Key) string { return k.Name }))
	}
	switch {
	case isNull(val):
		return nil
	case val.Kind != yaml.MappingNode:
		return p.fail(val, name, "want a mapping, got "+kindOf(val))
	}
	return p.section(val, name+".")
}

// setting parses the value of key i; null counts as not set.
func (p *fileParser) setting(i int, n *yaml.Node) error {
	if isNull(n) {
		return nil
	}
	v, err := fromNode(&table[i], n)
	if err != nil {
		return p.fail(n, table[i].Name, err.Error())
	}
	v.source, v.origin = fromFile, p.name+":"+strconv.Itoa(n.Line)
	p.values = append(p.values, fileValue{key: i, value: v, line: n.Line, column: n.Column})
	return nil
}

func (p *fileParser) fail(n *yaml.Node, key, msg string) error {
	return &SettingError{File: p.name, Line: n.Line, Column: n.Column, Key: key, Msg: msg}
}

// syntax converts a decoder error, whose text contains the line number, to a
// SettingError.
func (p *fileParser) syntax(err error) error {
	e := &SettingError{File: p.name, Msg: strings.TrimPrefix(err.Error(), "yaml: ")}
	var line int
	if n, _ := fmt.Sscanf(e.Msg, "line %d:", &line); n == 1 {
		_, rest, _ := strings.Cut(e.Msg, ": ")
		e.Line, e.Msg = line, rest
	}
	return e
}
