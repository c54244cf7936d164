package checkpoint

import "fmt"

// Limits bound what is read, before and while it is parsed. A zero field
// means the field of DefaultLimits.
type Limits struct {
	Bytes   int // size of the text
	Depth   int // mappings and lists within each other
	Aliases int // uses of YAML anchors
	Nodes   int // keys and values, those that aliases repeat included
}

// DefaultLimits are far above what a checkpoint needs: bulky state belongs in
// artifacts.
var DefaultLimits = Limits{Bytes: 32 << 20, Depth: 64, Aliases: 100, Nodes: 2_000_000}

func (l Limits) orDefault() Limits {
	pick := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	pick(&l.Bytes, DefaultLimits.Bytes)
	pick(&l.Depth, DefaultLimits.Depth)
	pick(&l.Aliases, DefaultLimits.Aliases)
	pick(&l.Nodes, DefaultLimits.Nodes)
	return l
}

// SyntaxError is what is wrong with a document and where: line and column
// count from 1, columns in characters, and are 0 for a record that is no text
// yet. Path names the key, where it is known.
type SyntaxError struct {
	Line, Column int
	Path, Msg    string
}

func (e *SyntaxError) Error() string {
	text := e.Msg
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, text)
	}
	return text
}

// VersionError reports a record of a schema version that cannot be read.
type VersionError struct{ Version string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("version %q: this program reads version 1", e.Version)
}
