package layout

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Name is the name of a system.
type Name string

// A System describes the documents of a checkpoint system. All fields except name and
// kinds are optional.
type system struct {
	name   Name
	kinds  []*kind                                              // the most specific shape first
	folder func(issue checkpoint.Issue) string                  // the files' folder below the worktree's root
	files  func(records []*checkpoint.Record) ([]Output, error) // files of an issue, instead of the newest record's documents
	list   func(files []listedFile) string                      // listing, instead of a line per file
	begin  func(s Start) (Beginning, error)
	enter  func(r *checkpoint.Record, story checkpoint.Issue) // adds the system's sections to a new workflow
	texts  func(r *checkpoint.Record) (Texts, error)
	other  func(m *object) string // type of a document of the system that is no checkpoint, "" if unknown
}

// A Start is the input of a new workflow.
type Start struct{ Type, Project, PlanPath string }

// A Beginning holds the initial values of a workflow: fixed phases, workflow id, and the
// default issue key. A field is empty if the system has no such value.
type Beginning struct {
	Phases  []string
	ID, Key string
}

// Texts are the resume messages of a system, byte for byte. Each line ends with a newline,
// and values from records are folded into one line.
type Texts struct {
	Found    string // message before the question
	Question string // yes/no question with default yes; "" if the prompt is r, s, v, d
	Resumed  string // message after a resume
	Prompt   string // instructions for a new worker, "" if the system has no such text
}

// A kind is a type of document of a system. Required are name, is or log, rules, key and
// apply.
type kind struct {
	name  string
	is    func(m *object) bool // detection by shape
	under string               // required folder in the path, "" for any
	rest  bool                 // excludes documents of a known other type

	// A log is a text whose lines are events. It is stored unchanged.
	log   func(file string, data []byte) bool    // detection of a log, nil for YAML and JSON
	lines func(file string, data []byte) *object // parser of a log

	// Whole is set for complete records. It returns the document of a record, without the
	// keys of git-checkpoint. A complete record replaces the former record.
	whole func(r *checkpoint.Record, stored *object) *object

	version func(m *object) string      // version of the document, nil for kinds with a single version
	reads   func(version string) string // the supported versions, "" if version is one of them
	migrate func(m *object) *object     // migration to the newest version
	rules   func(c *checker)
	against func(c *checker, before *checkpoint.Record) // rules about the preceding record

	key      func(m *object) string             // issue key, "" if missing
	id       func(m *object) string             // checkpoint id, nil for kinds without ids
	numbered bool                               // documents in numbered folders share an id
	at       func(m *object) any                // write time
	trigger  func(m *object) checkpoint.Trigger // nil for a phase transition
	sequel   bool                               // without a key, another file in the folder names the workflow

	apply  func(m *object, r *checkpoint.Record)
	judge  func(r *checkpoint.Record) // counts a new verdict, nil if no counter exists
	update func(r *checkpoint.Record, m *object)
	fresh  func(r *checkpoint.Record) (*object, error) // new document, nil for kinds that git-checkpoint does not create
	file   func(m *object) string                      // file name
	indent int

	listTasks   bool // listings show the number of completed tasks
	listNoPhase bool // listings do not show the phase
}

// matches reports whether a document has the shape of the kind, in the required folder.
func (k *kind) matches(m *object, file string) bool {
	return k.is(m) && (k.under == "" || strings.Contains("/"+file, "/"+k.under+"/"))
}

// decode parses a document and migrates it to the newest version.
func (k *kind) decode(name string, data []byte) (*object, error) {
	if k.lines != nil {
		return k.lines(name, data), nil
	}
	m, err := checkpoint.DecodeTolerant(data, checkpoint.DefaultLimits, func(int, int, string) {})
	if err != nil {
		return nil, err
	}
	return k.migrated(m), nil
}

func (k *kind) migrated(m *object) *object {
	if k.migrate == nil {
		return m
	}
	return k.migrate(m)
}
