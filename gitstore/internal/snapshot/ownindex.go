package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// An ownIndex is the index of this program, $GIT_DIR/git-checkpoint/index. It describes the
// files of the worktree: tracked files, untracked files that git does not ignore, and named
// artifacts. Git reads and writes it, as it does the index of the user. It stays between saves,
// because its stat data tell git which files have not changed.
//
// It begins as a copy of the user's index, so that files which git would convert differently when
// they are new keep their content. A copy always keeps the modification time: git treats a file
// as possibly changed if it is as new as the index.
//
// Beside it are the file index.note with the facts of the last save, and for a moment a copy of the
// user's index, index.user. They are valid only under the lock index.busy.
type ownIndex struct {
	s       *Capturer
	file    string // a temporary copy in a dry run
	git     git.Git
	note    indexNote
	objects string        // folder for the objects of a dry run, or ""
	reader  *odb.Database // stored objects, with those of a dry run
	close   func()
	fresh   bool // begun anew by this save
	reread  bool // the user's index has changed since the last save

	warnings []string // of git, since the index was opened
}

// An indexNote describes an own index, as JSON.
type indexNote struct {
	Root   string `json:"root"`   // of the worktree
	Boot   string `json:"boot"`   // id of the system's start: a loss of power may lose what git wrote last
	Config string `json:"config"` // digest of the settings that change what git stores
	Index  string `json:"index"`  // identity of the own index, which a killed save changes
	Tree   string `json:"tree"`   // of the own index, in hex; "" if unknown

	User userIndex `json:"user"` // the user's index
}

// A userIndex holds the content of the user's index, compared with HEAD.
type userIndex struct {
	Identity  string       `json:"identity"` // changes with the content
	Head      string       `json:"head"`     // tree of HEAD, in hex
	Staged    string       `json:"staged"`   // tree of the index, with HEAD's version of unmerged paths
	Conflicts []indexEntry `json:"conflicts,omitempty"`
	Intent    []string     `json:"intent,omitempty"` // paths of git add -N
	Links     []string     `json:"links,omitempty"`  // submodules
	Skip      []string     `json:"skip,omitempty"`   // marked skip-worktree
	Assume    []string     `json:"assume,omitempty"` // marked assume-unchanged
}

type indexEntry struct {
	Path  string `json:"path"`
	Stage int    `json:"stage"`
	Mode  uint32 `json:"mode"`
	Hash  string `json:"hash"`
}

// openOwnIndex locks the own index. In a dry run, it makes a temporary copy, whose objects git stores
// in a temporary folder.
func (s *Capturer) openOwnIndex(ctx context.Context, req Request) (o *ownIndex, err error) {
	o = &ownIndex{s: s, file: filepath.Join(s.repo.StateDir(), "index"), reader: s.repo.Objects, close: func() {}}
	var env []string
	if req.DryRun {
		temp, err := os.MkdirTemp("", "git-checkpoint-")
		if err != nil {
			return nil, err
		}
		o.objects = filepath.Join(temp, "objects")
		alternates := odb.JoinAlternates(s.repo.Info.ObjectDirs())
		env = []string{"GIT_OBJECT_DIRECTORY=" + o.objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternates}
		o.reader, err = odb.Open(odb.Config{Dir: o.objects, Git: s.repo.RootGit().With(env...)})
		o.close = func() {
			o.reader.Close() // first, because Windows removes no open file
			os.RemoveAll(temp)
		}
		own := o.file
		o.file = filepath.Join(temp, "index")
		if err := errors.Join(err, os.Mkdir(o.objects, 0o777), fsutil.CopyWithTime(own, o.file), fsutil.CopyWithTime(own+".note", o.file+".note")); err != nil {
			o.close()
			return nil, err
		}
	} else if err := o.lock(ctx, cmp.Or(req.Budget, lockWait)); err != nil {
		return nil, err
	}
	o.git = s.repo.RootGit().OnIndex(o.file, s.repo.Config...).With(env...)
	// The save itself makes the objects durable, all at once, before the refs move (assembly.keep), and an
	// index of another start of the system is not used. Without an id of the start, git has to sync.
	sync := "core.fsyncMethod=batch"
	if fsutil.BootID() != "" || !fsutil.Syncs() {
		sync = "core.fsync=none"
	}
	o.git.Settings = append(o.git.Settings, sync)
	o.git.Unset = append(slices.Clone(o.git.Unset), "GIT_ATTR_SOURCE", "GIT_PREFIX")
	data, err := os.ReadFile(o.file + ".note")
	if err != nil || json.Unmarshal(data, &o.note) != nil {
		o.note = indexNote{}
	}
	return o, nil
}

// lock waits for other saves in this worktree, at least a second: a process that was just started
// can hold the file for a moment.
func (o *ownIndex) lock(ctx context.Context, limit time.Duration) error {
	path := o.file + ".busy"
	limit = max(limit, time.Second)
	if err := o.s.repo.Objects.MakeDirs(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := filelock.Open(path, os.O_CREATE)
	if err != nil {
		return err
	}
	o.s.repo.Objects.Share(path)
	if err := f.Wait(ctx, limit); err != nil {
		f.Close()
		if errors.Is(err, filelock.ErrHeld) {
			return &repo.RefusedError{Reason: "another save reads the files of this worktree for more than " + limit.String()}
		}
		return err
	}
	o.close = func() { f.Close() }
	for _, left := range []string{o.file + ".lock", o.file + ".user", o.file + ".user.lock"} {
		os.Remove(left) // of a killed process, because this one has the lock
	}
	return nil
}

// writeNote stores the note. Without it, the next save begins with a new index.
func (o *ownIndex) writeNote() error {
	o.note.Index = identityOf(o.file)
	note := o.note
	data, err := json.Marshal(&note)
	if bytes.Contains(data, []byte(`\ufffd`)) { // a path that JSON cannot have
		note.User = userIndex{}
		data, err = json.Marshal(&note)
	}
	if err != nil || o.objects != "" {
		return err
	}
	return o.s.repo.WriteUnsynced(o.file+".note", data)
}

// run runs git on the own index and collects its warnings.
func (o *ownIndex) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	run, err := o.git.Start(ctx, args...)
	if err != nil {
		return nil, err
	}
	out, err := run.Finish(stdin)
	if ctx.Err() != nil {
		os.Remove(o.file + ".lock") // git was stopped
	}
	for line := range strings.Lines(run.Warnings()) {
		o.warnings = append(o.warnings, strings.TrimSpace(line))
	}
	return out, err
}

// identityOf returns a text that changes with the content of an index file: its checksum, or the
// stat data if git wrote no checksum.
func identityOf(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return "none"
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "none"
	}
	sum := make([]byte, len(plumbing.ZeroHash))
	if _, err := f.ReadAt(sum, max(0, info.Size()-int64(len(sum)))); err == nil && len(bytes.Trim(sum, "\x00")) > 0 {
		return hex.EncodeToString(sum)
	}
	return fmt.Sprintf("%d %d %s", info.Size(), info.ModTime().UnixNano(), odb.Identity(file))
}

// begin makes the own index ready. It begins anew, as a copy of the user's index, if the index or its
// note is missing. The same happens for the index of another worktree or of another start of the
// system, and after a change of settings that git uses to convert files.
func (o *ownIndex) begin(fresh bool) error {
	config, boot := o.s.digestOfSettings(), fsutil.BootID()
	_, err := os.Stat(o.file)
	sparse, _ := git.Last(o.s.repo.Config, "core.sparsecheckout")
	known := err == nil && o.note.Root == o.s.repo.Info.Root && o.note.Config == config && o.note.Boot == boot && (boot != "" || isIntact(o.file))
	if identity := identityOf(o.s.repo.Info.Index); known && git.Bool(sparse) && identity != o.note.User.Identity {
		known = false // paths that left the sparse checkout are not deleted
	}
	if o.note.Index != identityOf(o.file) {
		o.note.Tree = ""
	}
	if known && !fresh {
		return nil
	}
	o.fresh = true
	os.Remove(o.file + ".lock") // of a killed git, because this process has the lock of the own index
	o.note = indexNote{Root: o.s.repo.Info.Root, Boot: boot, Config: config, User: o.note.User}
	if err := o.s.repo.Objects.MakeDirs(filepath.Dir(o.file)); err != nil && o.objects == "" {
		return err
	}
	if err := fsutil.IgnoreMissing(os.Remove(o.file + ".note")); err != nil { // until the marks of the copy are cleared
		return err
	}
	return fsutil.CopyWithTime(o.s.repo.Info.Index, o.file)
}

// userIndex reads the user's index if it has changed. head is the tree of HEAD.
func (o *ownIndex) userIndex(ctx context.Context, head plumbing.Hash) (*userIndex, error) {
	u := &o.note.User
	identity := identityOf(o.s.repo.Info.Index)
	if u.Identity == identity && (u.Head == head.String() || len(u.Conflicts) == 0) && o.has(u.Staged) {
		u.Head = head.String()
		return u, nil
	}
	o.reread = true
	copied := o.file + ".user"
	if err := fsutil.CopyWithTime(o.s.repo.Info.Index, copied); err != nil {
		return nil, fmt.Errorf("copy index: %w", err)
	}
	defer func() {
		os.Remove(copied)
		os.Remove(copied + ".lock") // of a git that was stopped
	}()
	g := o.git.With("GIT_INDEX_FILE=" + copied)
	out, err := g.Output(ctx, "ls-files", "-z", "-s", "-v")
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	*u = userIndex{Identity: identity, Head: head.String()}
	empty, err := u.parse(out)
	if err != nil {
		return nil, err
	}
	if err := o.settle(ctx, g, u, head, out); err != nil {
		return nil, err
	}
	tree, err := g.Line(ctx, o.s.writeTree()...)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	u.Staged = tree
	find := &trees.Finder{Reader: o.reader}
	for _, path := range empty { // the tree lacks paths of git add -N
		mode, _, err := find.Lookup(plumbing.NewHash(tree), path)
		if err != nil {
			return nil, err
		}
		if mode == 0 {
			u.Intent = append(u.Intent, path)
		}
	}
	return u, nil
}

// writeTree returns the arguments of git that store the tree of an index. A partial clone may lack
// objects of it.
func (s *Capturer) writeTree() []string {
	if repository.Partial(s.repo.Config) {
		return []string{"write-tree", "--missing-ok"}
	}
	return []string{"write-tree"}
}

// parse parses the output of git ls-files -s -v: "<tag> <mode> <hash> <stage>\t<path>". The tag is
// S for skip-worktree, and lower case for assume-unchanged. It returns the paths of empty files.
func (u *userIndex) parse(out []byte) (empty []string, err error) {
	blank := plumbing.ComputeHash(plumbing.BlobObject, nil).String()
	for _, line := range git.Fields(out) {
		head, path, ok := strings.Cut(line, "\t")
		var tag string
		e := indexEntry{Path: path}
		if _, err := fmt.Sscanf(head, "%s %o %s %d", &tag, &e.Mode, &e.Hash, &e.Stage); err != nil || !ok {
			return nil, fmt.Errorf("read index: git ls-files said %q", line)
		}
		switch {
		case e.Stage > 0:
			u.Conflicts = append(u.Conflicts, e)
			continue
		case e.Mode == trees.ModeGitlink:
			u.Links = append(u.Links, path)
		case e.Hash == blank:
			empty = append(empty, path)
		}
		if strings.EqualFold(tag, "s") {
			u.Skip = append(u.Skip, path)
		}
		if tag == strings.ToLower(tag) {
			u.Assume = append(u.Assume, path)
		}
	}
	return empty, nil
}

// settle replaces unmerged entries of the copied index by HEAD's version, because git write-tree
// fails for them. A version whose place a staged file has is left out: git would remove that file.
// listed is the output of git ls-files.
func (o *ownIndex) settle(ctx context.Context, g git.Git, u *userIndex, head plumbing.Hash, listed []byte) error {
	if len(u.Conflicts) == 0 {
		return nil
	}
	var info bytes.Buffer
	find := &trees.Finder{Reader: o.s.repo.Objects}
	for i, e := range u.Conflicts {
		if i > 0 && u.Conflicts[i-1].Path == e.Path {
			continue
		}
		fmt.Fprintf(&info, "0 %s\t%s\x00", plumbing.ZeroHash, e.Path)
		mode, hash, err := find.Lookup(head, e.Path)
		if err != nil {
			return err
		}
		taken := bytes.Contains(listed, []byte(" 0\t"+e.Path+"/"))
		for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
			taken = taken || bytes.Contains(listed, []byte(" 0\t"+dir+"\x00"))
		}
		if mode != 0 && mode != trees.ModeTree && !taken {
			fmt.Fprintf(&info, "%o %s 0\t%s\x00", mode, hash, e.Path)
		}
	}
	if _, err := g.Pipe(ctx, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return fmt.Errorf("read index: %w", err)
	}
	return nil
}

// addTo adds the objects of a dry run to k, but for large files, which git stores in packs.
func (o *ownIndex) addTo(k *repo.ObjectWriter) error {
	return filepath.WalkDir(o.objects, func(name string, d fs.DirEntry, err error) error {
		hex := filepath.Base(filepath.Dir(name)) + filepath.Base(name)
		if err != nil || d.IsDir() || !plumbing.IsHash(hex) {
			return err
		}
		kind, data, err := o.reader.Read(plumbing.NewHash(hex))
		if err == nil {
			k.Add(kind, data)
		}
		return err
	})
}

// digestOfSettings returns a digest of the settings and files that change how git stores files.
func (s *Capturer) digestOfSettings() string {
	sum := sha256.New()
	keys := []string{"core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.symlinks", "core.sparsecheckout", "core.sparsecheckoutcone", "core.precomposeunicode", "core.checkroundtripencoding"}
	for _, e := range s.repo.Config {
		if slices.Contains(keys, e.Key) || strings.HasPrefix(e.Key, "filter.") {
			fmt.Fprintf(sum, "%q %q\n", e.Key, e.Value)
		}
	}
	user, _ := git.UserFile(s.repo.Config, "core.attributesfile", "attributes")
	addFiles(sum, filepath.Join(s.repo.Info.CommonDir, "info", "attributes"), user)
	return hex.EncodeToString(sum.Sum(nil))
}

// addFiles adds the contents of files to a digest. A missing file is as an empty one.
func addFiles(sum io.Writer, files ...string) {
	for _, file := range files {
		data, _ := os.ReadFile(file)
		fmt.Fprintf(sum, "%d %t\n%s", len(data), len(data) > 0, data)
	}
}

func (o *ownIndex) has(tree string) bool {
	return plumbing.IsHash(tree) && (tree == trees.Empty.String() || o.s.repo.Objects.Has(plumbing.NewHash(tree)))
}

// isIntact reports whether an index ends with the checksum of its content.
func isIntact(file string) bool {
	data, err := os.ReadFile(file)
	size := len(data) - len(plumbing.ZeroHash)
	if err != nil || size < 0 {
		return false
	}
	sum := hash.New(hash.CryptoType)
	sum.Write(data[:size])
	return bytes.Equal(sum.Sum(nil), data[size:])
}

// lockWait is the time that a save without a time limit waits for another one in the same worktree.
const lockWait = 10 * time.Second
