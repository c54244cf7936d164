//go:build amd64

package commands

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	objectName = regexp.MustCompile(`[0-9a-f]{40}`)
	tableName  = regexp.MustCompile(`(0x[0-9a-f]{12}-0x[0-9a-f]{12})-[0-9a-f]{8}(\.\w+)(\.\w+)?`)
	tempName   = regexp.MustCompile(`/tmp_(obj|pack|idx|rev)_\w+$|\.tmp-?\d+$`)
	clockText  = regexp.MustCompile(`\b1[0-9]{9}\b( [+-]\d{4})?|\b\d{16,19}\b`)
)

// hashes returns the object names in a template's refs and logs.
func (w *faultWorld) hashes() map[string]bool {
	known := map[string]bool{}
	_ = filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/objects/") {
			return nil
		}
		data, _ := os.ReadFile(path)
		for _, name := range objectName.FindAll(data, -1) {
			known[string(name)] = true
		}
		return nil
	})
	return known
}

// signature returns the same text for two worlds only if they differ in new object names,
// ids and times alone. It contains the number of objects, and ignores temporary object
// files.
func (w *faultWorld) signature(f *faultTest) string {
	var lines []string
	objects := 0
	_ = filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		name := strings.TrimPrefix(path, w.root+"/")
		if name == "out" {
			return filepath.SkipDir
		}
		switch {
		case strings.Contains(name, "/objects/"):
			if d.Type().IsRegular() && !tempName.MatchString(name) {
				if objects++; strings.HasSuffix(name, ".lock") || strings.Contains(name, "/pack/") {
					lines = append(lines, f.unify(name))
				}
			}
		case d.IsDir():
			lines = append(lines, f.unify(name)+"/")
		case d.Type()&os.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			lines = append(lines, f.unify(name)+" -> "+f.unify(target))
		default:
			lines = append(lines, f.unify(name)+" "+w.content(f, path, name))
		}
		return nil
	})
	if w.form == refsTable {
		for _, dir := range []string{".", "../remote.git"} {
			refs := w.try("git", "-C", dir, "for-each-ref", "--format=%(refname) %(objectname)")
			lines = append(lines, f.unify(refs.out+refs.err))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return fmt.Sprintf("%x %d", sum, objects)
}

// content returns the signature of one file.
func (w *faultWorld) content(f *faultTest, path, name string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "?"
	}
	data, _ := os.ReadFile(path)
	mode := info.Mode().String()
	if old, err := os.ReadFile(filepath.Join(f.template.root, name)); err == nil && bytes.Equal(old, data) {
		return mode + " as in the template"
	}
	if strings.HasSuffix(name, ".ref") {
		return mode + " a table"
	}
	return mode + " " + f.unify(string(data))
}

// unify replaces the parts of a text that differ between runs.
func (f *faultTest) unify(text string) string {
	text = objectName.ReplaceAllStringFunc(text, func(name string) string {
		if f.known[name] {
			return name
		}
		return "<object>"
	})
	text = tableName.ReplaceAllString(text, "$1$2")
	return clockText.ReplaceAllString(anonymous(text), "<time>")
}
