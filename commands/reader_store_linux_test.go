package commands

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// A storedRepo holds the objects and refs of a repository, so that a test can change them
// without git, which refuses some damage.
type storedRepo struct {
	t       *testing.T
	objects map[string]storedObject
	refs    map[string]string
	shared  string // directory of unchanged objects, "" if one of them is lost or changed
	known   map[string]bool
}

// A storedObject is an object of a storedRepo. A missing object is not in the map.
type storedObject struct {
	kind string
	data []byte
	file []byte // content of the loose object, instead of that of data
}

// A storedCommit is a commit in parts. Lines are the headers after the parents.
type storedCommit struct {
	tree    string
	parents []string
	lines   string
	message string
}

// A storedEntry is an entry of a tree.
type storedEntry struct{ mode, name, id string }

// readStored reads all objects of a repository that its chains reach.
func readStored(w *matrixWorld, dir string) *storedRepo {
	w.t.Helper()
	r := &storedRepo{t: w.t, objects: map[string]storedObject{}, refs: map[string]string{}}
	for _, line := range strings.Fields(w.must(dir, "git for-each-ref --format='%(refname)=%(objectname)' refs/heads refs/checkpoints refs/checkpoints-archive")) {
		ref, id, _ := strings.Cut(line, "=")
		r.refs[ref] = id
	}
	out := w.must(dir, "git rev-list --objects --no-object-names --all | git cat-file --batch; echo .")
	for rest := []byte(out); len(rest) > 1; {
		head, after, _ := bytes.Cut(rest, []byte("\n"))
		f := strings.Fields(string(head))
		size, err := strconv.Atoi(f[len(f)-1])
		require.NoError(w.t, err, string(head))
		r.objects[f[0]] = storedObject{kind: f[1], data: after[:size]}
		rest = after[size+1:]
	}
	r.shared, r.known = filepath.Join(w.dir, dir, ".git", "objects"), map[string]bool{}
	for id := range r.objects {
		r.known[id] = true
	}
	return r
}

func (r *storedRepo) clone() *storedRepo {
	c := &storedRepo{t: r.t, shared: r.shared, known: r.known, objects: make(map[string]storedObject, len(r.objects)), refs: map[string]string{}}
	for id, o := range r.objects {
		c.objects[id] = o
	}
	for ref, id := range r.refs {
		c.refs[ref] = id
	}
	return c
}

// put adds an object and returns its id.
func (r *storedRepo) put(kind string, data []byte) string {
	t, err := plumbing.ParseObjectType(kind)
	require.NoError(r.t, err)
	id := plumbing.ComputeHash(t, data).String()
	r.objects[id] = storedObject{kind: kind, data: data}
	return id
}

func (r *storedRepo) blob(content string) string { return r.put("blob", []byte(content)) }

func (r *storedRepo) commit(id string) storedCommit {
	o, ok := r.objects[id]
	require.True(r.t, ok && o.kind == "commit", id)
	head, message, _ := strings.Cut(string(o.data), "\n\n")
	c := storedCommit{message: message}
	for _, line := range strings.Split(head, "\n") {
		if id, ok := strings.CutPrefix(line, "tree "); ok {
			c.tree = id
		} else if id, ok := strings.CutPrefix(line, "parent "); ok {
			c.parents = append(c.parents, id)
		} else {
			c.lines += line + "\n"
		}
	}
	return c
}

func (r *storedRepo) putCommit(c storedCommit) string {
	text := "tree " + c.tree + "\n"
	for _, p := range c.parents {
		text += "parent " + p + "\n"
	}
	return r.put("commit", []byte(text+c.lines+"\n"+c.message))
}

func (r *storedRepo) tree(id string) (entries []storedEntry) {
	size := len(plumbing.ZeroHash)
	for data := r.objects[id].data; len(data) > 0; {
		head, rest, _ := bytes.Cut(data, []byte{0})
		mode, name, _ := strings.Cut(string(head), " ")
		entries = append(entries, storedEntry{mode, name, fmt.Sprintf("%x", rest[:size])})
		data = rest[size:]
	}
	return entries
}

func (r *storedRepo) putTree(entries []storedEntry) string {
	var b bytes.Buffer
	for _, e := range entries {
		h := plumbing.NewHash(e.id)
		fmt.Fprintf(&b, "%s %s\x00%s", e.mode, e.name, h[:])
	}
	return r.put("tree", b.Bytes())
}

// set returns the tree with an entry at a path, or without it if the id of the entry is "".
func (r *storedRepo) set(tree, path string, e storedEntry) string {
	name, below, deep := strings.Cut(path, "/")
	entries := r.tree(tree)
	k := slices.IndexFunc(entries, func(e storedEntry) bool { return e.name == name })
	if deep {
		sub := ""
		if k >= 0 {
			sub = entries[k].id
		}
		e = storedEntry{mode: "40000", id: r.set(sub, below, e)}
	}
	e.name = name
	if k >= 0 {
		entries = slices.Delete(entries, k, k+1)
	}
	if e.id != "" {
		entries = append(entries, e)
	}
	order := func(e storedEntry) string {
		if e.mode == "40000" {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortStableFunc(entries, func(a, b storedEntry) int { return strings.Compare(order(a), order(b)) })
	return r.putTree(entries)
}

// find returns the id at a path of a tree, or "".
func (r *storedRepo) find(tree, path string) string {
	for _, name := range strings.Split(path, "/") {
		entries := r.tree(tree)
		k := slices.IndexFunc(entries, func(e storedEntry) bool { return e.name == name })
		if k < 0 {
			return ""
		}
		tree = entries[k].id
	}
	return tree
}

// chain returns the commits of a ref, newest first, with the genesis commit.
func (r *storedRepo) chain(ref string) (ids []string) {
	for id := r.refs[ref]; ; {
		ids = append(ids, id)
		c := r.commit(id)
		if len(c.parents) == 0 {
			return ids
		}
		id = c.parents[0]
	}
}

// replace puts a new commit into the place of the nth newest of a ref, below those above it.
func (r *storedRepo) replace(ref string, n int, id string) {
	ids := r.chain(ref)
	for k := n - 1; k >= 0; k-- {
		c := r.commit(ids[k])
		c.parents[0] = id
		id = r.putCommit(c)
	}
	r.refs[ref] = id
}

// write writes the repository into a new directory.
func (r *storedRepo) write(dir string) {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if gitstore.ObjectFormat != "sha1" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = " + gitstore.ObjectFormat + "\n"
	}
	files := map[string][]byte{"HEAD": []byte("ref: refs/heads/issue-42\n"), "config": []byte(config + "[checkpoint]\n\tissue-source = none\n")}
	for ref, id := range r.refs {
		files[ref] = []byte(id + "\n")
	}
	files["objects/pack/"], files["refs/heads/"] = nil, nil
	if r.shared != "" {
		files["objects/info/alternates"] = []byte(r.shared + "\n")
	}
	for id, o := range r.objects {
		if r.shared != "" && r.known[id] {
			continue
		}
		files["objects/"+id[:2]+"/"+id[2:]] = o.loose()
	}
	for name, data := range files {
		path := filepath.Join(dir, ".git", name)
		require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o777))
		if strings.HasSuffix(name, "/") {
			require.NoError(r.t, os.MkdirAll(path, 0o777))
			continue
		}
		require.NoError(r.t, os.WriteFile(path, data, 0o666))
	}
}

func (o storedObject) loose() []byte {
	if o.file != nil {
		return o.file
	}
	var b bytes.Buffer
	z, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	fmt.Fprintf(z, "%s %d\x00", o.kind, len(o.data))
	_, _ = z.Write(o.data)
	_ = z.Close()
	return b.Bytes()
}
