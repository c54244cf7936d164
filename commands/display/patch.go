package display

import (
	"bytes"
	"io"
	"strings"

	"git-checkpoint/commands/output"
)

// maxLine bounds what is kept of a line that does not end.
const maxLine = 1 << 16

// A Patch makes what git diff writes fit for a screen: text that a terminal
// could be hurt by is escaped, and lines get colours by what they are. Close
// it.
type Patch struct {
	screen Screen
	w      io.Writer
	rest   []byte // of a line that has not ended
	within bool   // some of that line was written
	hunk   bool   // the lines are those of a hunk
	style  Style
}

// Patch returns a writer that writes to w.
func (s Screen) Patch(w io.Writer) *Patch { return &Patch{screen: s, w: w} }

// Write takes some of a diff.
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

// Close writes what is left.
func (p *Patch) Close() error {
	if len(p.rest) == 0 {
		return nil
	}
	return p.flush("")
}

// flush writes what is there of a line, and its end where that has come.
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

// begin finds the style of a line. What belongs to a hunk begins with a sign,
// a space or a backslash; before the first one, all is about the file.
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

// cutHeading takes the places off the line that begins a hunk.
func cutHeading(line string) (places, rest string) {
	if at := strings.Index(line[min(2, len(line)):], "@@"); at >= 0 {
		return line[:at+4], line[at+4:]
	}
	return line, ""
}
