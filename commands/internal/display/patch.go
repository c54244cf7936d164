package display

import (
	"bytes"
	"io"
	"strings"

	"git-checkpoint/commands/internal/output"
)

// maxLine limits the buffered bytes of an unterminated line.
const maxLine = 1 << 16

// A Patch is a writer that prepares the output of git diff for a screen. It escapes
// control characters and colours lines by kind. Callers must Close it.
type Patch struct {
	screen Screen
	w      io.Writer
	rest   []byte // buffered part of an unterminated line
	within bool   // part of that line is already written
	hunk   bool   // current lines belong to a hunk
	style  Style
}

// Patch returns a Patch that writes to w.
func (s Screen) Patch(w io.Writer) *Patch { return &Patch{screen: s, w: w} }

// Write writes part of a diff.
func (p *Patch) Write(data []byte) (int, error) {
	n := len(data)
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		p.rest = append(p.rest, data[:end]...)
		if err := p.flush("\n"); err != nil {
			return 0, err
		}
		data = data[end+1:]
	}
	if p.rest = append(p.rest, data...); len(p.rest) > maxLine {
		return n, p.flush("")
	}
	return n, nil
}

// Close writes the buffered rest.
func (p *Patch) Close() error {
	if len(p.rest) == 0 {
		return nil
	}
	return p.flush("")
}

// flush writes the buffered part of a line, followed by end: a newline, or "" if the line
// continues.
func (p *Patch) flush(end string) error {
	line := string(p.rest)
	if !p.within {
		p.begin(line)
	}
	head, tail := line, ""
	if p.style == Cyan {
		head, tail = cutHeading(line)
	}
	_, err := io.WriteString(p.w, p.screen.Paint(p.style, output.CleanBlock(head))+output.CleanBlock(tail)+end)
	p.rest, p.within = p.rest[:0], end == ""
	return err
}

// begin sets the style of a line. Lines before the first hunk describe the file. Hunk
// lines begin with a sign, a space or a backslash.
func (p *Patch) begin(line string) {
	switch {
	case strings.HasPrefix(line, "diff "):
		p.hunk, p.style = false, Bold
	case strings.HasPrefix(line, "@@"):
		p.hunk, p.style = true, Cyan
	case !p.hunk:
		p.style = Bold
	case line == "":
		p.style = ""
	default:
		p.style = lineStyle(line[0])
	}
}

// cutHeading splits a hunk header after its line numbers.
func cutHeading(line string) (places, rest string) {
	if at := strings.Index(line[min(2, len(line)):], "@@"); at >= 0 {
		return line[:at+4], line[at+4:]
	}
	return line, ""
}
