package commands

import (
	"bytes"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A damage changes a chain. The reader has to report the rule, or nothing if the rule is "". The
// test applies a damage once at each place, a position in the chain from the newest checkpoint.
type damage struct {
	name, rule string
	places     []int
	apply      func(d *damaged)
}

// A damaged is the repository of a damage, and the commit that it changes.
type damaged struct {
	*storedRepo
	ref string
	n   int
	id  string
	c   storedCommit
}

// everywhere are the newest checkpoint and one in the middle.
var everywhere = []int{0, 3}

// setCommit replaces the commit.
func (d *damaged) setCommit(c storedCommit) { d.replace(d.ref, d.n, d.putCommit(c)) }

// message replaces a text of the message.
func (d *damaged) message(old, text string) {
	if !strings.Contains(d.c.message, old) {
		d.t.Errorf("%q is not in %q", old, d.c.message)
	}
	d.c.message = strings.Replace(d.c.message, old, text, 1)
	d.setCommit(d.c)
}

// trailer replaces the value of a trailer. Without a value it is removed.
func (d *damaged) trailer(name, value string) {
	lines := strings.SplitAfter(d.c.message, "\n")
	text := ""
	for _, line := range lines {
		if strings.HasPrefix(line, name+": ") {
			line = ""
			if value != "" {
				line = name + ": " + value + "\n"
			}
		}
		text += line
	}
	d.c.message = text
	d.setCommit(d.c)
}

// file replaces a path of the tree.
func (d *damaged) file(mode, path, id string) {
	d.c.tree = d.set(d.c.tree, path, storedEntry{mode: mode, id: id})
	d.setCommit(d.c)
}

// record replaces a text of the record.
func (d *damaged) record(old, text string) {
	r := string(d.objects[d.find(d.c.tree, "checkpoint.yaml")].data)
	if !strings.Contains(r, old) {
		d.t.Errorf("%q is not in %s", old, r)
	}
	d.file("100644", "checkpoint.yaml", d.blob(strings.Replace(r, old, text, 1)))
}

// line replaces the value of a key of the record, in its first line that has the key.
func (d *damaged) line(key, value string) {
	r := string(d.objects[d.find(d.c.tree, "checkpoint.yaml")].data)
	_, after, found := strings.Cut("\n"+r, "\n"+key+":")
	if !found {
		d.t.Errorf("no %s in %s", key, r)
	}
	old, _, _ := strings.Cut(after, "\n")
	d.record(key+":"+old, key+":"+value)
}

// index changes the index commit.
func (d *damaged) index(change func(c *storedCommit)) {
	c := d.commit(d.c.parents[1])
	change(&c)
	d.c.parents[1] = d.putCommit(c)
	d.setCommit(d.c)
}

// lose removes an object.
func (d *damaged) lose(id string) {
	d.shared = ""
	delete(d.objects, id)
}

// other is the content of an object with another id.
func (d *damaged) other(id string) {
	d.shared = ""
	o := d.objects[id]
	o.data = append(bytes.Clone(o.data), '\n')
	d.objects[id] = o
}

// ownFile is a file that only this checkpoint has.
func (d *damaged) ownFile() string {
	id := d.blob("only here\n")
	d.file("100644", "artifacts/only.txt", id)
	return id
}

var missingID = strings.Repeat("12345678", len(plumbing.ZeroHash)/4)

// raw is a tree below artifacts/ with an entry as given.
func raw(mode, name string) func(*damaged) {
	return func(d *damaged) {
		d.file("40000", "artifacts", d.putTree([]storedEntry{{mode, name, d.blob("x\n")}}))
	}
}

func setLine(key, value string) func(*damaged) { return func(d *damaged) { d.line(key, value) } }

func setTrailer(name, value string) func(*damaged) {
	return func(d *damaged) { d.trailer(name, value) }
}

func setRecord(old, text string) func(*damaged) { return func(d *damaged) { d.record(old, text) } }

var damages = []damage{
	// commits
	{"no index commit", "index", everywhere, func(d *damaged) { d.c.parents = d.c.parents[:1]; d.setCommit(d.c) }},
	{"three parents", "index", everywhere, func(d *damaged) { d.c.parents = append(d.c.parents, d.c.parents[1]); d.setCommit(d.c) }},
	{"parents swapped", "genesis", []int{0}, func(d *damaged) {
		d.c.parents[0], d.c.parents[1] = d.c.parents[1], d.c.parents[0]
		d.setCommit(d.c)
	}},
	{"index commit of another checkpoint", "index", everywhere, func(d *damaged) {
		for _, id := range d.chain(d.ref) {
			if c := d.commit(id); len(c.parents) == 2 && d.commit(c.parents[1]).tree != d.find(d.c.tree, "staged") {
				d.c.parents[1] = c.parents[1]
			}
		}
		d.setCommit(d.c)
	}},
	{"index commit missing", "object", everywhere, func(d *damaged) { d.lose(d.c.parents[1]) }},
	{"index commit with another message", "index", []int{0}, func(d *damaged) { d.index(func(c *storedCommit) { c.message = "staged files\n" }) }},
	{"index commit on another HEAD", "head", everywhere, func(d *damaged) {
		d.index(func(c *storedCommit) { c.parents = []string{d.refs["refs/heads/other"]} })
	}},
	{"index commit with two parents", "index", []int{0}, func(d *damaged) {
		d.index(func(c *storedCommit) { c.parents = append(c.parents, d.refs["refs/heads/other"]) })
	}},
	{"HEAD of the save missing", "object", []int{0}, func(d *damaged) { d.lose(d.commit(d.c.parents[1]).parents[0]) }},
	{"other author", "", []int{0}, func(d *damaged) { d.c.lines = strings.Replace(d.c.lines, "Ann", "Bob", 2); d.setCommit(d.c) }},
	{"other author date", "", []int{0}, func(d *damaged) {
		d.c.lines = strings.Replace(d.c.lines, " +0000", "1 +0000", 1)
		d.setCommit(d.c)
	}},
	{"signed", "", []int{0}, func(d *damaged) {
		d.c.lines += "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n"
		d.setCommit(d.c)
	}},
	{"commit missing", "chain", everywhere, func(d *damaged) { d.lose(d.id) }},
	{"commit with the content of another", "object", everywhere, func(d *damaged) { d.other(d.id) }},
	{"order swapped", "clock", []int{0}, func(d *damaged) {
		ids := d.chain(d.ref)
		below := d.commit(ids[1])
		d.c.parents[0], below.parents[0] = below.parents[0], ""
		below.parents[0] = d.putCommit(d.c)
		d.refs[d.ref] = d.putCommit(below)
	}},
	{"same checkpoint twice", "twice", everywhere, func(d *damaged) {
		c := d.c
		c.parents = append([]string{d.id}, d.c.parents[1:]...)
		d.replace(d.ref, d.n, d.putCommit(c))
	}},
	{"checkpoint of the archive", "twice", []int{0}, func(d *damaged) {
		c := d.commit(d.refs["refs/checkpoints-archive/42"])
		c.parents[0] = d.id
		d.replace(d.ref, d.n, d.putCommit(c))
	}},
	{"commit of the project in the chain", "commit", everywhere, func(d *damaged) {
		c := d.commit(d.refs["refs/heads/other"])
		c.parents = []string{d.id}
		d.replace(d.ref, d.n, d.putCommit(c))
	}},
	{"commit removed", "", []int{2}, func(d *damaged) { d.replace(d.ref, d.n, d.c.parents[0]) }},
	// genesis
	{"no genesis", "genesis", []int{6}, func(d *damaged) { d.c.parents = d.c.parents[1:]; d.setCommit(d.c) }},
	{"genesis of another issue", "genesis", []int{7}, func(d *damaged) { d.message("issue 42", "issue 43") }},
	{"genesis with another date", "genesis", []int{7}, func(d *damaged) {
		d.c.lines = strings.ReplaceAll(d.c.lines, "1767225600", "1767225601")
		d.setCommit(d.c)
	}},
	{"genesis with a file", "genesis", []int{7}, func(d *damaged) { d.file("100644", "x", d.blob("x\n")) }},
	{"genesis above the project", "genesis", []int{7}, func(d *damaged) { d.c.parents = []string{d.refs["refs/heads/other"]}; d.setCommit(d.c) }},
	// refs
	{"ref to a tree", "chain", []int{0}, func(d *damaged) { d.refs[d.ref] = d.c.tree }},
	{"ref to a blob", "chain", []int{0}, func(d *damaged) { d.refs[d.ref] = d.blob("x\n") }},
	{"ref to a tag", "chain", []int{0}, func(d *damaged) {
		d.refs[d.ref] = d.put("tag", []byte("object "+d.id+"\ntype commit\ntag x\ntagger "+strings.SplitAfter(d.c.lines, "\n")[0][7:]+"\nx\n"))
	}},
	{"ref to nothing", "chain", []int{0}, func(d *damaged) { d.refs[d.ref] = missingID }},
	{"ref to the branch", "genesis", []int{0}, func(d *damaged) { d.refs[d.ref] = d.refs["refs/heads/other"] }},
	{"ref of another issue", "commit", []int{0}, func(d *damaged) {
		d.refs["refs/checkpoints/77"] = d.refs[d.ref]
		delete(d.refs, d.ref)
	}},
	{"ref with an invalid name", "", []int{0}, func(d *damaged) { d.refs["refs/checkpoints/%zz"] = d.refs[d.ref] }},
	{"ref with a folder", "", []int{0}, func(d *damaged) { d.refs["refs/checkpoints/a/b"] = d.refs[d.ref] }},
	// messages
	{"other subject", "", everywhere, func(d *damaged) { d.message("checkpoint 42: ", "checkpoint 41: ") }},
	{"other note", "", everywhere, func(d *damaged) { d.message(" note\n", " words\n") }},
	{"no id", "commit", everywhere, setTrailer("Checkpoint-Id", "")},
	{"other id", "agree", everywhere, setTrailer("Checkpoint-Id", "CP-x-20260214T143000Z-00000000")},
	{"invalid id", "commit", everywhere, setTrailer("Checkpoint-Id", "../../etc/passwd x")},
	{"id twice", "", everywhere, func(d *damaged) {
		d.message("Checkpoint-Id:", "Checkpoint-Id: CP-x-20260214T143000Z-00000000\nCheckpoint-Id:")
	}},
	{"no issue", "", everywhere, setTrailer("Checkpoint-Issue", "")},
	{"other issue", "commit", everywhere, setTrailer("Checkpoint-Issue", "43")},
	{"other trigger", "agree", everywhere, setTrailer("Checkpoint-Trigger", "interval")},
	{"invalid trigger", "commit", everywhere, setTrailer("Checkpoint-Trigger", "not a word")},
	{"no trigger", "agree", everywhere, setTrailer("Checkpoint-Trigger", "")},
	{"other phase", "agree", everywhere, setTrailer("Checkpoint-Phase", "build")},
	{"other branch", "agree", everywhere, setTrailer("Checkpoint-Branch", "main")},
	{"no branch", "agree", everywhere, setTrailer("Checkpoint-Branch", "")},
	{"not resumable", "agree", everywhere, setTrailer("Checkpoint-Resumable", "false")},
	{"resumable without meaning", "agree", everywhere, setTrailer("Checkpoint-Resumable", "maybe")},
	{"other clock", "agree", everywhere, setTrailer("Checkpoint-Clock", "1771079400000000001")},
	{"no clock", "agree", everywhere, setTrailer("Checkpoint-Clock", "")},
	{"clock without meaning", "commit", everywhere, setTrailer("Checkpoint-Clock", "soon")},
	{"left out files that no record has", "agree", []int{6}, func(d *damaged) { d.message("Checkpoint-Clock:", "Checkpoint-Left-Out: 7\nCheckpoint-Clock:") }},
	{"after without meaning", "", everywhere, setTrailer("Checkpoint-After", "not an id")},
	{"later minor version", "", everywhere, setTrailer("Checkpoint-Version", "1.9")},
	{"later major version", "", everywhere, setTrailer("Checkpoint-Version", "2.0")},
	{"no version", "", everywhere, setTrailer("Checkpoint-Version", "")},
	{"unknown trailer", "", everywhere, func(d *damaged) { d.message("Checkpoint-Clock:", "Checkpoint-Colour: red\nCheckpoint-Clock:") }},
	{"message without an end of line", "", everywhere, func(d *damaged) { d.c.message = strings.TrimSuffix(d.c.message, "\n"); d.setCommit(d.c) }},
	{"message in other bytes", "", []int{0}, func(d *damaged) { d.message("newest note", "\xff\xfe note") }},
	// trees
	{"no record", "record", everywhere, func(d *damaged) { d.file("", "checkpoint.yaml", "") }},
	{"record is a folder", "object", []int{0}, func(d *damaged) { d.file("40000", "checkpoint.yaml", d.putTree(nil)) }},
	{"record is a symlink", "", []int{0}, func(d *damaged) { d.file("120000", "checkpoint.yaml", d.find(d.c.tree, "checkpoint.yaml")) }},
	{"record is executable", "", []int{0}, func(d *damaged) { d.file("100755", "checkpoint.yaml", d.find(d.c.tree, "checkpoint.yaml")) }},
	{"no staged files", "index", everywhere, func(d *damaged) { d.file("", "staged", "") }},
	{"other staged file", "index", everywhere, func(d *damaged) { d.file("100644", "staged/staged.txt", d.blob("other\n")) }},
	{"staged is a file", "index", []int{0}, func(d *damaged) { d.file("100644", "staged", d.blob("x\n")) }},
	{"worktree is a file", "tree", []int{0}, func(d *damaged) { d.file("100644", "worktree", d.blob("x\n")) }},
	{"untracked is a file", "tree", []int{0}, func(d *damaged) { d.file("100644", "untracked", d.blob("x\n")) }},
	{"artifacts is a file", "tree", []int{0}, func(d *damaged) { d.file("100644", "artifacts", d.blob("x\n")) }},
	{"conflicts is a file", "object", []int{0}, func(d *damaged) { d.file("100644", "conflicts", d.blob("x\n")) }},
	{"conflict of stage 4", "tree", []int{0}, func(d *damaged) { d.file("100644", "conflicts/4/x", d.blob("x\n")) }},
	{"unknown entry", "", everywhere, func(d *damaged) { d.file("100644", "future/x", d.blob("x\n")) }},
	{"other file in the worktree", "", everywhere, func(d *damaged) { d.file("100644", "worktree/modified.txt", d.blob("other\n")) }},
	{"file of the worktree that is not staged", "", []int{0}, func(d *damaged) { d.file("100644", "worktree/strange.txt", d.blob("x\n")) }},
	{"file both in the worktree and untracked", "", []int{0}, func(d *damaged) {
		d.c.tree = d.set(d.c.tree, "worktree/same.txt", storedEntry{mode: "100644", id: d.blob("x\n")})
		d.file("100644", "untracked/same.txt", d.blob("y\n"))
	}},
	{"file staged and untracked", "", []int{0}, func(d *damaged) { d.file("100644", "untracked/staged.txt", d.blob("y\n")) }},
	{"folder over a file", "", []int{0}, func(d *damaged) { d.file("100644", "untracked/staged.txt/x", d.blob("y\n")) }},
	{"file over a folder", "", []int{0}, func(d *damaged) { d.file("100644", "untracked/dir", d.blob("y\n")) }},
	{"file artifact and staged", "", []int{0}, func(d *damaged) { d.file("100644", "artifacts/staged.txt", d.blob("y\n")) }},
	{"worktree of a save of the index", "extent", []int{1}, func(d *damaged) { d.file("100644", "worktree/modified.txt", d.blob("y\n")) }},
	{"untracked of a save of the index", "extent", []int{1}, func(d *damaged) { d.file("100644", "untracked/x.txt", d.blob("y\n")) }},
	{"submodule in the worktree", "path", []int{0}, func(d *damaged) { d.file("160000", "worktree/module", missingID) }},
	{"symlink out of the folder", "", []int{0}, func(d *damaged) { d.file("120000", "untracked/out", d.blob("/etc/passwd")) }},
	{"file missing", "object", everywhere, func(d *damaged) { d.lose(d.ownFile()) }},
	{"file with other content", "object", everywhere, func(d *damaged) { d.other(d.ownFile()) }},
	{"file is a commit", "object", everywhere, func(d *damaged) { d.file("100644", "artifacts/only.txt", d.refs["refs/heads/other"]) }},
	{"folder missing", "object", everywhere, func(d *damaged) { d.file("40000", "artifacts/gone", missingID) }},
	{"folder is a file", "object", everywhere, func(d *damaged) { d.file("40000", "artifacts/gone", d.blob("x\n")) }},
	{"record missing", "object", everywhere, func(d *damaged) { d.lose(d.find(d.c.tree, "checkpoint.yaml")) }},
	{"record with other content", "object", everywhere, func(d *damaged) { d.other(d.find(d.c.tree, "checkpoint.yaml")) }},
	{"newest tree missing", "object", []int{0}, func(d *damaged) { d.lose(d.c.tree) }},
	{"tree missing", "object", []int{3, 6}, func(d *damaged) { d.lose(d.c.tree) }},
	{"staged file missing", "object", []int{0}, func(d *damaged) { d.lose(d.find(d.c.tree, "staged/modified.txt")) }},
	{"file damaged on the disk", "object", everywhere, func(d *damaged) {
		id := d.ownFile()
		d.objects[id] = storedObject{kind: "blob", file: []byte("damage")}
	}},
	{"file cut on the disk", "object", everywhere, func(d *damaged) {
		id := d.ownFile()
		loose := d.objects[id].loose()
		d.objects[id] = storedObject{kind: "blob", file: loose[:len(loose)/2]}
	}},
	{"tree cut", "object", []int{0}, func(d *damaged) {
		id := d.put("tree", []byte("100644 name\x00short"))
		d.file("40000", "artifacts", id)
	}},
	{"tree not sorted", "path", []int{0}, func(d *damaged) {
		x := d.blob("x\n")
		d.file("40000", "artifacts", d.putTree([]storedEntry{{"100644", "b", x}, {"100644", "a", x}}))
	}},
	{"name twice", "path", []int{0}, func(d *damaged) {
		x := d.blob("x\n")
		d.file("40000", "artifacts", d.putTree([]storedEntry{{"100644", "a", x}, {"100644", "a", x}}))
	}},
	{"path ..", "path", []int{0}, raw("100644", "..")},
	{"path .", "path", []int{0}, raw("100644", ".")},
	{"path with a slash", "path", []int{0}, raw("100644", "a/b")},
	{"path with a slash in front", "path", []int{0}, raw("100644", "/etc")},
	{"no name", "path", []int{0}, raw("100644", "")},
	{"path .git", "path", []int{0}, raw("100644", ".git")},
	{"path .GIT", "path", []int{0}, raw("100644", ".GiT")},
	{"path git~1", "path", []int{0}, raw("100644", "git~1")},
	{"path .git with a space", "path", []int{0}, raw("100644", ".git ")},
	{"path .git with a dot", "path", []int{0}, raw("100644", ".git.")},
	{"path .git with a stream", "path", []int{0}, raw("100644", ".git::$INDEX_ALLOCATION")},
	{"path .git with an ignored letter", "path", []int{0}, raw("100644", ".g\u200cit")},
	{"path with a backslash", "", []int{0}, raw("100644", `a\b`)},
	{"path .. with a backslash", "", []int{0}, raw("100644", `..\b`)},
	{"path .git with a backslash", "path", []int{0}, raw("100644", `.git\b`)},
	{"path .git below a backslash", "path", []int{0}, raw("100644", `a\.git\b`)},
	{"path of a drive", "", []int{0}, raw("100644", `c:x`)},
	{"path .gitmodules as a symlink", "path", []int{0}, raw("120000", ".gitmodules")},
	{"path .gitmodules", "", []int{0}, raw("100644", ".gitmodules")},
	{"path .gitignore", "", []int{0}, raw("100644", ".gitignore")},
	{"path in other bytes", "", []int{0}, raw("100644", "caf\xe9")},
	{"path of 255 bytes", "", []int{0}, raw("100644", strings.Repeat("x", 255))},
	{"path of 5000 bytes", "path", []int{0}, raw("100644", strings.Repeat("x", 5000))},
	{"mode 100664", "", []int{0}, raw("100664", "a")},
	{"mode 000000", "path", []int{0}, raw("0", "a")},
	{"mode 777", "path", []int{0}, raw("777", "a")},
	{"mode without meaning", "object", []int{0}, raw("1006xx", "a")},
	{"folder named .git", "path", []int{0}, func(d *damaged) {
		d.file("40000", "artifacts", d.putTree([]storedEntry{{"40000", ".git", d.putTree(nil)}}))
	}},
	{"deep folders", "path", []int{0}, func(d *damaged) { d.file("100644", "artifacts/"+strings.Repeat("d/", 2100)+"x", d.blob("x\n")) }},
	// records
	{"record cut", "record", everywhere, func(d *damaged) {
		r := d.objects[d.find(d.c.tree, "checkpoint.yaml")].data
		d.file("100644", "checkpoint.yaml", d.blob(string(r[:bytes.Index(r, []byte("created_at: \""))+14])))
	}},
	{"record cut after a line", "head", everywhere, func(d *damaged) {
		r := d.objects[d.find(d.c.tree, "checkpoint.yaml")].data
		d.file("100644", "checkpoint.yaml", d.blob(string(r[:bytes.Index(r, []byte("\nsnapshot:"))+1])))
	}},
	{"empty record", "record", everywhere, func(d *damaged) { d.file("100644", "checkpoint.yaml", d.blob("")) }},
	{"record is a list", "record", []int{0}, func(d *damaged) { d.file("100644", "checkpoint.yaml", d.blob("- a\n")) }},
	{"record is a word", "record", []int{0}, func(d *damaged) { d.file("100644", "checkpoint.yaml", d.blob("word\n")) }},
	{"record in other bytes", "record", []int{0}, setRecord("note: ", "x_note: caf\xe9\nnote: ")},
	{"record with NUL", "record", []int{0}, setRecord("note: ", "x_note: a\x00b\nnote: ")},
	{"record with a tab", "record", []int{0}, setRecord("note: ", "x_note:\n\tb: 1\nnote: ")},
	{"key twice", "record", everywhere, setRecord("note: ", "note: a\nnote: ")},
	{"quote without an end", "record", []int{0}, setRecord("note: ", "x_note: \"a\nnote: ")},
	{"two documents", "record", []int{0}, setRecord("note: ", "---\nnote: ")},
	{"tag", "record", []int{0}, setRecord("note: ", "x_note: !!python/object x\nnote: ")},
	{"alias without anchor", "record", []int{0}, setRecord("note: ", "x_note: *x\nnote: ")},
	{"deep record", "record", []int{0}, func(d *damaged) {
		d.record("note: ", "x_note:\n"+strings.Repeat("  ", 1)+deepYAML(100)+"note: ")
	}},
	{"huge record", "record", []int{0}, func(d *damaged) { d.record("note: ", "x_note: "+strings.Repeat("x", 33<<20)+"\nnote: ") }},
	{"unknown key", "", everywhere, setRecord("note: ", "x_future:\n  - a: 1\nnote: ")},
	{"wrong key", "agree", everywhere, setRecord("checkpoint_id: ", "checkpoint_idd: ")},
	{"other id in the record", "agree", everywhere, setLine("checkpoint_id", " CP-x-20260214T143000Z-00000000")},
	{"no time", "schema", everywhere, setRecord("created_at: ", "created_on: ")},
	{"time without meaning", "schema", everywhere, setLine("created_at", " yesterday")},
	{"other time", "", everywhere, setLine("created_at", ` "2026-02-13T08:01:00.000000Z"`)},
	{"major version in the record", "record", everywhere, setLine("version", ` "2.0"`)},
	{"minor version in the record", "", everywhere, setLine("version", ` "1.7"`)},
	{"version without meaning", "record", everywhere, setLine("version", ` "x"`)},
	{"other issue in the record", "agree", everywhere, setLine("issue_number", " 43")},
	{"no issue in the record", "agree", everywhere, setRecord("issue_number: ", "issue_numbers: ")},
	{"other trigger in the record", "agree", everywhere, setLine("trigger", " interval")},
	{"other phase in the record", "agree", everywhere, setLine("  current_phase", " build")},
	{"attempt is text", "record", everywhere, setLine("  phase_attempt", " many")},
	{"attempt is negative", "schema", everywhere, setLine("  phase_attempt", " -1")},
	{"attempt is text of a number", "", everywhere, setLine("  phase_attempt", ` "1"`)},
	{"section is a text", "record", everywhere, setRecord("issue_snapshot:\n  branch: issue-42\n", "issue_snapshot: x\n")},
	{"other branch in the record", "agree", everywhere, setLine("  branch", " main")},
	{"not resumable in the record", "agree", everywhere, setLine("  can_resume", " false")},
	{"resumable is a word", "record", everywhere, setLine("  can_resume", " maybe")},
	{"warnings are a text", "record", everywhere, setLine("  warnings", " x")},
	{"files are a mapping", "record", []int{0}, setRecord("files_modified:\n", "files_modified: {}\nx_files:\n")},
	{"file without a path", "schema", []int{0}, setRecord("  - path: ", "  - paths: ")},
	{"other clock in the record", "agree", everywhere, setLine("clock", " 1")},
	{"no clock in the record", "agree", everywhere, setRecord("clock: ", "clocks: ")},
	{"other HEAD in the record", "head", everywhere, setLine("  head", " "+missingID)},
	{"HEAD is no id", "schema", everywhere, setLine("  head", " main")},
	{"no HEAD", "head", everywhere, setLine("  head", " null")},
	{"no snapshot", "head", []int{0}, setRecord("\nsnapshot:\n", "\nsnapshots:\n")},
	{"extent of an unknown word", "extent", everywhere, setLine("    worktree", " all")},
	{"extent without a class", "extent", everywhere, setRecord("    index: complete\n", "")},
	{"extent is a text", "record", everywhere, setLine("    index", " [a]")},
	{"no extent", "", everywhere, func(d *damaged) { d.record("  extent:\n", "  extend:\n") }},
	{"extent hides left out files", "extent", []int{0}, setLine("    untracked", " complete")},
	{"extent hides the worktree", "extent", []int{0}, setLine("    worktree", " none")},
	{"extent claims the worktree", "extent", []int{1}, setLine("    worktree", " complete")},
	{"worktree is false", "extent", []int{0}, setLine("  worktree", " false")},
	{"deleted file is not staged", "", []int{0}, setRecord("  deleted:\n", "  deleted:\n    - strange.txt\n")},
	{"bad quotes in a path", "schema", []int{0}, setRecord("  deleted:\n", "  deleted:\n    - \"\\\"a\"\n")},
	{"skipped without a path", "schema", []int{0}, setRecord("    - path: large.bin\n      ", "    - ")},
	{"skipped removed", "agree", []int{0}, setRecord("  skipped:\n", "  skipper:\n")},
	{"state of a node", "schema", []int{0}, setRecord("clock: ", "execution_graph:\n  node_states:\n    a:\n      status: lost\nclock: ")},
	{"cycle of tasks", "schema", []int{0}, setRecord("clock: ", "tasks:\n  a:\n    depends_on:\n      - b\n  b:\n    depends_on:\n      - a\nclock: ")},
	// ledgers
	{"ledger with an unknown line", "ledger", []int{0}, func(d *damaged) { d.ledger("colour red\n") }},
	{"older ledger with an unknown line", "", []int{6}, func(d *damaged) { d.ledger("colour red\n") }},
	{"older ledger missing", "object", []int{6}, func(d *damaged) {
		id := d.blob("deleted CP-x-20260214T143000Z-0000abcd\n")
		d.file("100644", "ledger", id)
		d.lose(id)
	}},
	{"ledger of a ledger commit missing", "object", []int{0}, func(d *damaged) {
		for _, id := range d.chain(d.ref) {
			if old := d.find(d.commit(id).tree, "ledger"); old != "" && old != d.find(d.c.tree, "ledger") {
				d.lose(old)
			}
		}
	}},
	{"ledger without an end of line", "ledger", []int{0}, func(d *damaged) { d.ledger("deleted CP-x-20260214T143000Z-00000000") }},
	{"ledger in another order", "ledger", []int{0}, func(d *damaged) {
		d.ledger("deleted CP-y-20260214T143000Z-00000000\ndeleted CP-x-20260214T143000Z-00000000\n")
	}},
	{"ledger with a line twice", "ledger", []int{0}, func(d *damaged) { d.ledger(strings.Repeat("deleted CP-x-20260214T143000Z-00000000\n", 2)) }},
	{"empty ledger", "", []int{0}, func(d *damaged) { d.ledger("") }},
	{"ledger with a word too many", "ledger", []int{0}, func(d *damaged) { d.ledger("deleted CP-x-20260214T143000Z-00000000 x\n") }},
	{"ledger with a clock without meaning", "ledger", []int{0}, func(d *damaged) { d.ledger("pin CP-x-20260214T143000Z-00000000 on soon\n") }},
	{"ledger is a folder", "object", []int{0}, func(d *damaged) { d.file("40000", "ledger", d.putTree(nil)) }},
	{"ledger missing", "object", []int{0}, func(d *damaged) {
		id := d.blob("deleted CP-x-20260214T143000Z-0000abcd\n")
		d.file("100644", "ledger", id)
		d.lose(id)
	}},
	{"ledger names a live checkpoint", "", everywhere, func(d *damaged) {
		id, _, _ := strings.Cut(strings.SplitAfter(d.c.message, "Checkpoint-Id: ")[1], "\n")
		d.n, d.id = 0, d.refs[d.ref]
		d.c = d.commit(d.id)
		d.ledger("deleted " + id + "\n")
	}},
	{"ledger commit with files", "commit", []int{0}, func(d *damaged) {
		d.above("ledger of issue 42\n\nCheckpoint-Issue: 42\nCheckpoint-Version: 1.0\n", "x")
	}},
	{"ledger commit with another subject", "commit", []int{0}, func(d *damaged) { d.above("ledger\n\nCheckpoint-Issue: 42\nCheckpoint-Version: 1.0\n", "ledger") }},
	{"ledger commit of another issue", "commit", []int{0}, func(d *damaged) {
		d.above("ledger of issue 43\n\nCheckpoint-Issue: 43\nCheckpoint-Version: 1.0\n", "ledger")
	}},
	{"ledger commit without trailers", "", []int{0}, func(d *damaged) { d.above("ledger of issue 42\n", "ledger") }},
	{"ledger commit", "", []int{0}, func(d *damaged) {
		d.above("ledger of issue 42\n\nCheckpoint-Issue: 42\nCheckpoint-Version: 1.0\n", "ledger")
	}},
	{"empty ledger commit", "", []int{0}, func(d *damaged) { d.above("ledger of issue 42\n\nCheckpoint-Issue: 42\nCheckpoint-Version: 1.0\n", "") }},
	{"ledger commit with an unknown line", "ledger", []int{0}, func(d *damaged) {
		d.above("ledger of issue 42\n\nCheckpoint-Issue: 42\nCheckpoint-Version: 1.0\n", "bad")
	}},
	{"ledger commit with two parents", "commit", []int{0}, func(d *damaged) {
		d.above("ledger of issue 42\n\nCheckpoint-Issue: 42\nCheckpoint-Version: 1.0\n", "merge")
	}},
	{"restoration without meaning", "", []int{0}, func(d *damaged) {
		d.above("ledger of issue 42\n\nCheckpoint-Issue: 42\nCheckpoint-Restored: x y z\nCheckpoint-Version: 1.0\n", "ledger")
	}},
}

// ledger sets the ledger of the commit.
func (d *damaged) ledger(text string) { d.file("100644", "ledger", d.blob(text)) }

// above adds a ledger commit to the chain.
func (d *damaged) above(message, kind string) {
	c := storedCommit{parents: []string{d.refs[d.ref]}, lines: d.c.lines, message: message}
	text := "deleted CP-x-20260214T143000Z-00000000\n"
	switch kind {
	case "":
		c.tree = d.putTree(nil)
	case "x":
		c.tree = d.putTree([]storedEntry{{"100644", "ledger", d.blob(text)}, {"100644", "x", d.blob("x\n")}})
	case "bad":
		c.tree = d.putTree([]storedEntry{{"100644", "ledger", d.blob("colour red\n")}})
	case "merge":
		c.parents = append(c.parents, d.refs["refs/heads/other"])
		fallthrough
	default:
		c.tree = d.putTree([]storedEntry{{"100644", "ledger", d.blob(text)}})
	}
	d.refs[d.ref] = d.putCommit(c)
}

// deepYAML is a mapping with this many levels.
func deepYAML(levels int) string {
	text := ""
	for k := range levels {
		text += strings.Repeat("  ", k+1) + "a:"
		if k == levels-1 {
			text += " 1"
		}
		text += "\n"
	}
	return strings.TrimPrefix(text, "  ")
}

// damage returns a copy of the repository with a damage at a place of the chain of issue 42.
func (r *storedRepo) damage(change damage, place int) *storedRepo {
	d := &damaged{storedRepo: r.clone(), ref: "refs/checkpoints/42"}
	for _, id := range d.chain(d.ref) {
		d.id, d.c = id, d.commit(id)
		if len(d.c.parents) != 1 { // a ledger commit has one
			place--
		}
		if place < 0 {
			break
		}
		d.n++
	}
	change.apply(d)
	return d.storedRepo
}
