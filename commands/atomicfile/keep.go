package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
)

// keptCopies bounds the copies of one file.
const keptCopies = 5

// Keep stores the content of a file, as it was read, in a directory, and
// returns the path of the copy. The newest copy has no number, older ones have
// .1 to .4. A content that is the newest copy already is not stored again. A
// file that does not exist is stored as an empty copy.
func Keep(dir string, f Replacement) (string, error) {
	newest := keptName(dir, f.Path)
	if data, err := os.ReadFile(newest); err == nil && string(data) == f.Text {
		return newest, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for n := keptCopies - 1; n > 0; n-- {
		_ = os.Rename(numbered(newest, n-1), numbered(newest, n)) // a missing number is no failure
	}
	to, err := Read(newest)
	if err != nil {
		return "", err
	}
	return newest, to.write(f.Text, 0o600) // settings may hold tokens
}

// Kept returns the copies of a file, the newest first.
func Kept(dir, path string) []string {
	var texts []string
	for n := range keptCopies {
		if data, err := os.ReadFile(numbered(keptName(dir, path), n)); err == nil {
			texts = append(texts, string(data))
		}
	}
	return texts
}

// keptName is readable, and differs for files of the same name elsewhere.
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
