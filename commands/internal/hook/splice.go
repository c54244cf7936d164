package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// addItem appends an item to an object or array and preserves all other bytes. A
// container with items determines the new item's layout. In an empty container, the item
// is written on the same line between spaces. These spaces show that the container
// existed before: install writes its own containers without them.
func addItem(text string, in node, key string, value any) string {
	if len(in.items) == 0 {
		return text[:in.start+1] + " " + compact(key, value) + " " + text[in.start+1:]
	}
	last := len(in.items) - 1
	end := in.items[last].end
	lineEnd, indent, broken := layout(text, in.from(last))
	item, gap, past := compact(key, value), " ", func(at int) int { return at }
	if broken {
		item, gap = pretty(key, value, indent, step(text), lineEnd), lineEnd+indent
		past = func(at int) int { return restOfLine(text, at) }
	}
	if comma := commaAfter(text, end); comma >= 0 {
		at := past(comma + 1)
		return text[:at] + gap + item + "," + text[at:]
	}
	at := past(end)
	return text[:end] + "," + text[end:at] + gap + item + text[at:]
}

// layout reports whether a position is the first on its line, and returns its indentation
// and the line end.
func layout(text string, at int) (lineEnd, indent string, broken bool) {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	indent = text[start:at]
	if start == 0 || strings.Trim(indent, " \t") != "" {
		return "", "", false
	}
	if start > 1 && text[start-2] == '\r' {
		return "\r\n", indent, true
	}
	return "\n", indent, true
}

// step returns one indentation level, taken from the root's first item.
func step(text string) string {
	root, err := parseJSON(text)
	if err == nil && len(root.items) > 0 {
		if _, indent, broken := layout(text, root.from(0)); broken && indent != "" {
			return indent
		}
	}
	return "  "
}

// commaAfter returns the offset of the comma after an item, or -1.
func commaAfter(text string, end int) int {
	p := &parser{text: text, at: end}
	if p.skip(); p.peek() == ',' {
		return p.at
	}
	return -1
}

// restOfLine returns the offset after comments on the same line, because they belong to
// the preceding text.
func restOfLine(text string, at int) int {
	end := at + upTo(text[at:], "\n")
	if end > at && text[end-1] == '\r' {
		end--
	}
	p := &parser{text: text[:end], at: at}
	if p.skip(); p.at == end && strings.TrimSpace(text[at:end]) != "" {
		return end
	}
	return at
}

func compact(key string, value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // strings, numbers, maps and lists
	return name(key) + strings.TrimSuffix(b.String(), "\n")
}

func pretty(key string, value any, indent, step, lineEnd string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(indent, step)
	_ = e.Encode(value)
	return name(key) + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", lineEnd)
}

func name(key string) string {
	if key == "" {
		return ""
	}
	return `"` + key + `": `
}

// removeItem removes item i from a container, with its comma and white space. Adjacent
// comments remain.
func removeItem(text string, in node, i int) string {
	from, end := in.from(i), in.items[i].end
	comma := commaAfter(text, end)
	switch {
	case len(in.items) == 1:
		return removeOnly(text, in)
	case i < len(in.items)-1:
		return removeBefore(text, from, end, comma)
	}
	gap := strings.TrimRight(text[:from], " \t")
	if strings.HasSuffix(gap, "\n") {
		gap = strings.TrimSuffix(strings.TrimSuffix(gap, "\n"), "\r")
	}
	if comma >= 0 { // the file's style has trailing commas
		return gap + text[end:comma] + text[comma+1:]
	}
	if before := commaAfter(text, in.items[i-1].end); before >= 0 && before < len(gap) {
		gap = gap[:before] + gap[before+1:]
	}
	return gap + text[end:]
}

// removeBefore removes an item before other items, with its line if it is alone there.
func removeBefore(text string, from, end, comma int) string {
	rest := text[end:comma] + text[comma+1:]
	line := strings.TrimLeft(text[comma+1:], " \t")
	_, _, broken := layout(text, from)
	switch {
	case broken && end == comma && strings.HasPrefix(line, "\n"):
		return strings.TrimRight(text[:from], " \t") + line[1:]
	case broken && end == comma && strings.HasPrefix(line, "\r\n"):
		return strings.TrimRight(text[:from], " \t") + line[2:]
	case !broken && end == comma:
		return text[:from] + line
	}
	return text[:from] + rest
}

// removeOnly removes the only item of a container, and keeps comments inside.
func removeOnly(text string, in node) string {
	from, end := in.from(0), in.items[0].end
	before, after := text[:from], text[end:]
	if comma := commaAfter(text, end); comma >= 0 {
		after = text[end:comma] + text[comma+1:]
	}
	if spaced(text, in) {
		return before[:from-1] + after[1:]
	}
	closing := len(text) - in.end + 1 // distance from the closing bracket to the end of text
	inner := before[in.start+1:] + after[:len(after)-closing]
	if strings.TrimSpace(inner) == "" {
		inner = ""
	}
	return before[:in.start+1] + inner + after[len(after)-closing:]
}
