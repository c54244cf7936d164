package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
)

// keptCopies limits copies per file.
const keptCopies = 5

// Keep copies the content of f to a directory and returns the copy's path. The newest
// copy has no number; older copies end in .1 to .4. Content equal to the newest copy is
// not stored again. A missing file is stored as an empty copy.
func Keep(dir string, f Replacement) (string, error) {
	newest := keptName(dir, f.Path)
	if data, err := os.ReadFile(newest); err == nil && string(data) == f.Text {
		return newest, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for n := keptCopies - 1; n > 0; n-- {
		_ = os.Rename(numbered(newest, n-1), numbered(newest, n)) // a missing copy is no error
	}
	to, err := Read(newest)
	if err != nil {
		return "", err
	}
	return newest, to.write(f.Text, 0o600) // settings may hold tokens
}

// Kept returns all copies of a file, newest first.
func Kept(dir, path string) []string {
	var texts []string
	for n := range keptCopies {
		if data, err := os.ReadFile(numbered(keptName(dir, path), n)); err == nil {
			texts = append(texts, string(data))
		}
	}
	return texts
}

// keptName returns a readable file name, unique per path.
func keptName(dir, path string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(path)))
	return filepath.Join(dir, filepath.Base(path)+"-"+hex.EncodeToString(sum[:4]))
}

func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "." + strconv.Itoa(n)
}
