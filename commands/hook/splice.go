package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// addItem puts an item at the end of an object or array and leaves every other
// byte as it is. A container with items gets it in the form that they have; an
// empty one on its one line between spaces, which tells that it was there: one
// that is made with its item is written without.
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

// layout says whether what stands at a place begins a line, how deep, and how
// lines end.
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

// step is one level of indentation: that of the first item of the root.
func step(text string) string {
	root, err := parseJSON(text)
	if err == nil && len(root.items) > 0 {
		if _, indent, broken := layout(text, root.from(0)); broken && indent != "" {
			return indent
		}
	}
	return "  "
}

// commaAfter is the comma that follows an item, -1 for none.
func commaAfter(text string, end int) int {
	p := &parser{text: text, at: end}
	if p.skip(); p.peek() == ',' {
		return p.at
	}
	return -1
}

// restOfLine is past the comments that follow on the same line: they belong to
// what stands before them.
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
	_ = e.Encode(value) // of strings, numbers, maps and lists of them
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

// removeItem takes item i out of a container, with the comma and the white
// space that came with it. Comments around it stay.
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
	if comma >= 0 { // commas after the last item are the style of the file
		return gap + text[end:comma] + text[comma+1:]
	}
	if before := commaAfter(text, in.items[i-1].end); before >= 0 && before < len(gap) {
		gap = gap[:before] + gap[before+1:]
	}
	return gap + text[end:]
}

// removeBefore takes out an item that others follow, with its line if it is
// alone there.
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

// removeOnly empties a container, which keeps comments that stand in it.
func removeOnly(text string, in node) string {
	from, end := in.from(0), in.items[0].end
	before, after := text[:from], text[end:]
	if comma := commaAfter(text, end); comma >= 0 {
		after = text[end:comma] + text[comma+1:]
	}
	if spaced(text, in) {
		return before[:from-1] + after[1:]
	}
	closing := len(text) - in.end + 1 // from the end of the text to the closing bracket
	inner := before[in.start+1:] + after[:len(after)-closing]
	if strings.TrimSpace(inner) == "" {
		inner = ""
	}
	return before[:in.start+1] + inner + after[len(after)-closing:]
}
