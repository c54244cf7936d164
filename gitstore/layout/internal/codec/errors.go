package codec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// InvalidError reports rule violations or a syntax error in a document.
type InvalidError struct {
	Layout   Name   // "" if unknown
	File     string // "" for standard input
	Problems []Problem
	Hint     string // commands to type next, one a line; "" to correct the file
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

func (e *InvalidError) Exit() (code int, hint string) {
	return failure.Invalid, cmp.Or(e.Hint, failure.Correct(e.File))
}

// UnknownDocumentError reports that a document does not belong to the layout. Reason
// describes its actual content, if known. Mapping reports that save --state can keep the content.
type UnknownDocumentError struct {
	Layout  Name // "" for any layout
	File    string
	Reason  string
	Mapping bool
}

func (e *UnknownDocumentError) Error() string {
	what := "not a document of a known system"
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

func (e *UnknownDocumentError) Exit() (code int, hint string) {
	switch {
	case e.Layout != "" && e.File != "":
		return failure.Invalid, "git checkpoint import " + failure.Quote(e.File) + " --dry-run" // tries every layout
	case e.Mapping:
		return failure.Invalid, "git checkpoint save --state " + failure.Quote(cmp.Or(e.File, "-"))
	}
	return failure.Invalid, "git checkpoint help import"
}

// OtherForm begins VersionError.Reads if the version is supported, but not in this form.
const OtherForm = "this version only "

// VersionError reports a document with an unsupported version. Reads completes the sentence "this
// program reads ...".
type VersionError struct {
	Layout        Name
	File, Version string
	Reads         string
}

func (e *VersionError) Error() string {
	what := strings.TrimSpace(string(e.Layout) + " " + e.File)
	return fmt.Sprintf("%s: version %.40q: this program reads %s", what, e.Version, e.Reads)
}

func (e *VersionError) Exit() (code int, hint string) {
	if strings.HasPrefix(e.Reads, OtherForm) && e.File != "" {
		return failure.Version, "fix " + failure.Quote(e.File) + ", then run the command again"
	}
	return failure.Version, failure.Upgrade
}

// syntaxError converts a decoder error into an InvalidError with line, column and byte
// offset.
func syntaxError(as Name, file string, data []byte, err error) error {
	return &InvalidError{Layout: as, File: file, Problems: []Problem{syntaxProblem(data, err)}}
}

func syntaxProblem(data []byte, err error) Problem {
	p := Problem{Rule: "syntax", Msg: err.Error()}
	if se, ok := errors.AsType[*checkpoint.SyntaxError](err); ok {
		p.Path, p.Msg, p.Line, p.Column = se.Path, se.Msg, se.Line, se.Column
		p.Msg += fmt.Sprintf(", at byte %d of %d", offset(data, se.Line, se.Column), len(data))
	}
	return p
}

// offset returns the byte offset of a line and column; columns count characters.
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
