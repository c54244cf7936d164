package forge

import (
	"bytes"
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
	"git-checkpoint/gitstore/fsutil"
)

// entryVersion increases if stored fields change their meaning.
const entryVersion = 1

// An entry is the cached response to one request. The cache is optional: read and write
// errors are treated as a missing entry.
type entry struct {
	Version int          `json:"version"`
	URL     string       `json:"url"`
	ETag    string       `json:"etag,omitempty"`
	Seen    time.Time    `json:"seen"`
	Issue   *issue.Issue `json:"issue,omitempty"`
	Wait    time.Time    `json:"wait,omitzero"` // end of the forge's rate limit
	As      string       `json:"as,omitempty"`  // origin of the credential used
}

const (
	maxEntries = 500
	maxETag    = 512
)

func (f *Forge) entryFile(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(f.Cache, hex.EncodeToString(sum[:16])+".json")
}

// load returns the cached entry of a URL, or an empty entry if none is usable.
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

// store atomically replaces the cached entry of a URL.
func (f *Forge) store(e entry) {
	if f.Cache == "" || !plainETag(e.ETag) || os.MkdirAll(f.Cache, 0o700) != nil {
		return
	}
	data, err := json.Marshal(e)
	if err != nil {
		return
	}
	options := fsutil.ReplaceOptions{Temp: "new-", Mode: 0o600}
	if fsutil.ReplaceFile(f.entryFile(e.URL), bytes.NewReader(data), options) != nil {
		return
	}
	f.sweep()
}

// outdate marks the cached issue as outdated by clearing its time. The entry remains for
// the next conditional request.
func (f *Forge) outdate(key checkpoint.Issue) {
	number, ok := key.Number()
	if !ok {
		return
	}
	kept := f.load(f.Site.api(strconv.FormatInt(number, 10)))
	kept.Seen = time.Time{}
	f.store(kept)
}

// sweep removes the oldest entries if the cache holds more than maxEntries.
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

// plainETag reports whether an ETag is safe in a request header.
func plainETag(tag string) bool {
	return len(tag) <= maxETag && !strings.ContainsFunc(tag, func(r rune) bool { return r < ' ' || r >= 0x7f })
}
