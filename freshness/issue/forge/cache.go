package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/freshness/issue"
	"git-checkpoint/gitstore/checkpoint"
)

// entryVersion is raised when what is kept changes its meaning.
const entryVersion = 1

// An entry is what is kept of one question. It is a convenience: one that
// cannot be read or written is as good as none.
type entry struct {
	Version int          `json:"version"`
	URL     string       `json:"url"`
	ETag    string       `json:"etag,omitempty"`
	Seen    time.Time    `json:"seen"`
	Issue   *issue.Issue `json:"issue,omitempty"`
	Wait    time.Time    `json:"wait,omitzero"` // the forge's limit lasts until then
	As      string       `json:"as,omitempty"`  // for whom: the place of the credential
}

const (
	maxEntries = 500
	maxETag    = 512
)

func (f *Forge) entryFile(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(f.Cache, hex.EncodeToString(sum[:16])+".json")
}

// load reads what is kept of a question, an empty entry where there is nothing.
func (f *Forge) load(address string) entry {
	empty := entry{Version: entryVersion, URL: address}
	if f.Cache == "" {
		return empty
	}
	file, err := os.Open(f.entryFile(address))
	if err != nil {
		return empty
	}
	defer file.Close()
	var e entry
	info, err := file.Stat()
	if err != nil || info.Size() > 2*issue.MaxBytes || json.NewDecoder(file).Decode(&e) != nil ||
		e.Version != entryVersion || e.URL != address || !plainETag(e.ETag) || e.Issue == nil && e.ETag != "" {
		return empty
	}
	return e
}

// store keeps an entry in place of the one before, in one step.
func (f *Forge) store(e entry) {
	if f.Cache == "" || !plainETag(e.ETag) || os.MkdirAll(f.Cache, 0o700) != nil {
		return
	}
	data, err := json.Marshal(e)
	if err != nil {
		return
	}
	temp, err := os.CreateTemp(f.Cache, "new-*") // for its owner alone
	if err != nil {
		return
	}
	_, err = temp.Write(data)
	if e := temp.Close(); err == nil {
		err = e
	}
	if err != nil || os.Rename(temp.Name(), f.entryFile(e.URL)) != nil {
		_ = os.Remove(temp.Name())
		return
	}
	f.sweep()
}

// outdate keeps what was said of an issue for the next question alone: it is not
// as it was seen any more.
func (f *Forge) outdate(key checkpoint.Issue) {
	number, ok := key.Number()
	if !ok {
		return
	}
	kept := f.load(f.Site.api(strconv.FormatInt(number, 10)))
	kept.Seen = time.Time{}
	f.store(kept)
}

// sweep removes what was asked longest ago where there is too much.
func (f *Forge) sweep() {
	files, err := os.ReadDir(f.Cache)
	if err != nil || len(files) <= maxEntries {
		return
	}
	age := map[string]time.Time{}
	for _, file := range files {
		if info, err := file.Info(); err == nil {
			age[file.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(files, func(a, b fs.DirEntry) int { return age[a.Name()].Compare(age[b.Name()]) })
	for _, file := range files[:len(files)-maxEntries] {
		_ = os.Remove(filepath.Join(f.Cache, file.Name()))
	}
}

// plainETag accepts what can be sent back in a header.
func plainETag(tag string) bool {
	return len(tag) <= maxETag && !strings.ContainsFunc(tag, func(r rune) bool { return r < ' ' || r >= 0x7f })
}
