package issue

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// step selects a key's value, or a list element.
type step struct {
	key   string // "" for a list element
	index int
}

// where finds the position of a value in a parsed document. Only errors need positions,
// so parsing does not store them. It returns line 1, column 1 if the path does not exist.
func where(data []byte, path []step) (line, column int) {
	if json.Valid(data) {
		return whereJSON(data, path)
	}
	return whereYAML(data, path)
}

func whereYAML(data []byte, path []step) (line, column int) {
	var doc yaml.Node
	defer func() {
		// yaml.v3 panics on comments in some positions.
		if recover() != nil {
			line, column = 1, 1
		}
	}()
	if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) == 0 {
		return 1, 1
	}
	n := doc.Content[0]
	for _, s := range path {
		next := child(n, s)
		if next == nil {
			break
		}
		n = next
	}
	return n.Line, n.Column
}

func child(n *yaml.Node, s step) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.SequenceNode && s.key == "" && s.index < len(n.Content):
		return n.Content[s.index]
	case n.Kind == yaml.MappingNode && s.key != "":
		for k := 0; k+1 < len(n.Content); k += 2 {
			if n.Content[k].Value == s.key {
				return n.Content[k+1]
			}
		}
	}
	return nil
}

func whereJSON(data []byte, path []step) (line, column int) {
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, s := range path {
		if !enter(dec, s) {
			return 1, 1
		}
	}
	at := int(dec.InputOffset())
	for at < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[at]) >= 0 {
		at++
	}
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	return bytes.Count(data[:at], []byte("\n")) + 1, utf8.RuneCount(data[start:at]) + 1
}

// enter reads tokens up to the value of a step, and leaves the value itself unread.
func enter(dec *json.Decoder, s step) bool {
	if open, err := dec.Token(); err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return false
	}
	for k := 0; dec.More(); k++ {
		if s.key == "" && k == s.index {
			return true
		}
		if s.key != "" {
			if key, err := dec.Token(); err != nil || key == s.key {
				return err == nil
			}
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}
