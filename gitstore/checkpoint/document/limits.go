package document

import "fmt"

// Limits apply before and during parsing. A zero field means the value in DefaultLimits.
type Limits struct {
	Bytes   int // bytes of text
	Depth   int // nesting of mappings and lists
	Aliases int // uses of YAML anchors
	Nodes   int // keys and values, including repetitions by aliases
}

// DefaultLimits are far above the size of a checkpoint, because large state belongs in
// artifacts.
var DefaultLimits = Limits{Bytes: 32 << 20, Depth: 64, Aliases: 100, Nodes: 2_000_000}

func (l Limits) OrDefault() Limits {
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

// SyntaxError reports an error in a document. Line and Column start at 1, and columns
// count characters. Both are 0 for a record without text. Path is the path of the key, if
// known.
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
