package interchange

import (
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
)

// checkPlace returns an error if the target is inside a git directory, because git would
// treat the exported files as its own.
func (x *exporting) checkPlace() error {
	abs, err := filepath.Abs(filepath.Join(x.root, filepath.FromSlash(x.below)))
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	place := reached(abs)
	for _, dir := range []string{x.c.Store.GitDir(), x.c.Store.CommonDir()} {
		if isBelow(invoke.Resolved(dir), place) {
			return x.isGits()
		}
	}
	for _, name := range strings.Split(filepath.ToSlash(place), "/") {
		if name != "" && gitstore.CheckPlace(name) != nil {
			return x.isGits()
		}
	}
	return nil
}

func (x *exporting) isGits() error {
	return exit.Errorf(exit.Usage, fmt.Sprintf("git checkpoint export %s --as %s --dir DIR", phrase.QuoteArg(string(x.issue)), x.as),
		"export: %s is git's own", phrase.QuotePath(filepath.ToSlash(filepath.Join(x.root, filepath.FromSlash(x.below)))))
}

// reached resolves the symlinks of a path, as far as the path exists.
func reached(name string) string {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		return to
	}
	up := filepath.Dir(name)
	if up == name {
		return name
	}
	return filepath.Join(reached(up), filepath.Base(name))
}

// isBelow reports whether name is dir or a path inside it.
func isBelow(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
