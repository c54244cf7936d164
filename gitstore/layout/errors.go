package layout

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
)

// InvalidError says what a document does against the rules of its layout, or
// where its syntax is broken.
type InvalidError struct {
	Layout   Name   // "" where that is not known
	File     string // "" for standard input
	Problems []Problem
}

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	what := e.File
	if e.Layout != "" {
		what = strings.TrimSpace(string(e.Layout) + " " + what)
	}
	switch {
	case what == "":
		return strings.Join(lines, "\n")
	case len(lines) == 1:
		return what + ": " + lines[0]
	}
	return fmt.Sprintf("%s: %d problems\n%s", what, len(lines), strings.Join(lines, "\n"))
}

// UnknownDocumentError says that a document is none of a layout's, and what it is
// instead, where that is known.
type UnknownDocumentError struct {
	Layout Name // "" for any
	File   string
	Reason string
}

func (e *UnknownDocumentError) Error() string {
	what := "no document of any layout"
	if e.Layout != "" {
		what = "no document of the layout " + string(e.Layout)
	}
	if e.Reason != "" {
		what = e.Reason
	}
	if e.File == "" {
		return what
	}
	return e.File + ": " + what
}

// VersionError reports a document of a generation that cannot be read.
type VersionError struct {
	Layout        Name
	File, Version string
	Reads         string
}

func (e *VersionError) Error() string {
	what := strings.TrimSpace(string(e.Layout) + " " + e.File)
	return fmt.Sprintf("%s: version %.40q: this program reads %s", what, e.Version, e.Reads)
}

// syntaxError turns what the decoder says into a problem with its place, the
// offset in bytes included.
func syntaxError(as Name, file string, data []byte, err error) error {
	return &InvalidError{Layout: as, File: file, Problems: []Problem{syntaxProblem(data, err)}}
}

func syntaxProblem(data []byte, err error) Problem {
	p := Problem{Rule: "syntax", Msg: err.Error()}
	var se *checkpoint.SyntaxError
	if errors.As(err, &se) {
		p.Path, p.Msg, p.Line, p.Column = se.Path, se.Msg, se.Line, se.Column
		p.Msg += fmt.Sprintf(", at byte %d of %d", offset(data, se.Line, se.Column), len(data))
	}
	return p
}

// offset turns a line and a column in characters into bytes.
func offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return len(data)
		}
		at += end + 1
	}
	for ; column > 1 && at < len(data); column-- {
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	return at
}
