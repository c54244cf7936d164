package commands

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The library returns the zero value for a flag that is not declared, so that a misspelt
// name is not noticed otherwise.
func TestFlagsThatAreReadAreDeclared(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for _, d := range allCommands() {
		for _, f := range allFlags(d) {
			declared[f.Names()[0]] = true
		}
	}
	reads := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := flagRead(n); ok {
				reads++
				assert.True(t, declared[name], "%s: no command has a flag --%s", files.Position(n.Pos()), name)
			}
			return true
		})
		return nil
	}))
	assert.Greater(t, reads, 10)
}

// flagRead returns the name of the flag that an expression reads: c.Flags.IsSet("x").
func flagRead(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !strings.Contains(" Bool Int IsSet String ", " "+s.Sel.Name+" ") {
		return "", false
	}
	flags, ok := s.X.(*ast.SelectorExpr)
	literal, isText := call.Args[0].(*ast.BasicLit)
	if !ok || flags.Sel.Name != "Flags" || !isText {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

func TestShortHelpListsTenCommandsAndThirtyFlags(t *testing.T) {
	t.Parallel()
	commands, flags := 0, 0
	for _, d := range allCommands() {
		short := shortFlags(d) // panics if ShortHelp names no flag
		if d.Everyday {
			commands, flags = commands+1, flags+len(short)
		}
	}
	assert.Equal(t, 10, commands)
	assert.LessOrEqual(t, flags, 30)
}
