// Package codec describes a checkpoint system by its kinds of documents, and reads and
// writes documents by this description.
//
// # Stored form
//
// A crunch document has the same schema as a record. Documents of other layouts are
// stored completely in the record, next to the sections derived from them:
//
//	layout:
//	  name: claude
//	  files:
//	    checkpoint:                 the kind of document
//	      name: <original base name>
//	      version: "1.2"            the original version
//	      indent: 2                 of its JSON; 0 for a single line
//	      text: |                   if its bytes differ from the output of Of
//	      document: {...}           as migrated, keys in their order
//
// Of changes only document keys that differ from the record's sections. Unknown keys are
// preserved in order. If the document is unchanged since Read, Of returns the original
// bytes.
package codec

import (
	"git-checkpoint/gitstore/checkpoint"
)

// Name is the name of a system.
type Name string

// A System describes the documents of a checkpoint system. All fields except name and
// kinds are optional.
type System struct {
	Name   Name
	Kinds  []*Kind                                              // the most specific shape first
	Folder string                                               // the files' folder below the worktree's root, with {issue} for the issue
	Files  func(records []*checkpoint.Record) ([]Output, error) // files of an issue, instead of the newest record's documents
	Failed string                                               // subfolder of failed workflows, with a slash at the end; "" if they have no files
	List   func(files []ListedFile) string                      // listing, instead of a line per file
	Phases []string                                             // phases of a new workflow, nil if they vary
	Begin  func(s Start) (Beginning, error)                     // initial values of a workflow, instead of Phases

	// Complete returns the document of a state, or its problems. before is the former
	// document of the chain, and can be empty.
	Complete func(state, before *checkpoint.Map, w Workflow) (*checkpoint.Map, []Problem)

	Enter func(r *checkpoint.Record, story checkpoint.Issue) // adds the system's sections to a new workflow
	Texts func(r *checkpoint.Record) (Texts, error)
	Other func(m *checkpoint.Map) string // type of a document of the system that is no checkpoint, "" if unknown
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

	// Corrupt and Old are yes/no questions with default no, "" if the system has none. They
	// offer to start fresh, before Question, if a validation of the state fails or if the
	// state is too old.
	Corrupt, Old string

	Prompt string // instructions for a new worker, "" if the system has no such text
}

// A Kind is a type of document of a system. Required are name, is or log, rules, key and
// apply.
type Kind struct {
	Name  string
	Is    func(m *checkpoint.Map) bool // detection by shape
	Under string                       // required folder in the path, "" for any
	Rest  bool                         // excludes documents of a known other type

	// A log is a text whose lines are events. It is stored unchanged.
	Log   func(file string, data []byte) bool            // detection of a log, nil for YAML and JSON
	Lines func(file string, data []byte) *checkpoint.Map // parser of a log

	// Whole is set for complete records. It returns the document of a record, without the
	// keys of git-checkpoint. A complete record replaces the former record.
	Whole func(r *checkpoint.Record, stored *checkpoint.Map) *checkpoint.Map

	Version func(m *checkpoint.Map) string          // version of the document, nil for kinds with a single version
	Reads   func(version string) string             // the supported versions, "" if version is one of them
	Migrate func(m *checkpoint.Map) *checkpoint.Map // migration to the newest version
	Rules   func(c *Checker)
	Against func(c *Checker, before *checkpoint.Record) // rules about the preceding record

	Key      func(m *checkpoint.Map) string             // issue key, "" if missing
	ID       func(m *checkpoint.Map) string             // checkpoint id, nil for kinds without ids
	Numbered bool                                       // documents in numbered folders share an id
	At       func(m *checkpoint.Map) any                // write time
	Trigger  func(m *checkpoint.Map) checkpoint.Trigger // nil for a phase transition
	Sequel   bool                                       // without a key, another file in the folder names the workflow

	// Forget removes values of the previous document from the record, before a document of
	// the same kind and key is applied that lacks them. Nil if Apply replaces all values.
	Forget func(r *checkpoint.Record, previous, m *checkpoint.Map)

	Apply   func(m *checkpoint.Map, r *checkpoint.Record)
	Judge   func(r *checkpoint.Record) // counts a new verdict, nil if no counter exists
	Update  func(r *checkpoint.Record, m *checkpoint.Map)
	Fresh   func(r *checkpoint.Record) (*checkpoint.Map, error) // new document, nil for kinds that git-checkpoint does not create
	Provide func(issue checkpoint.Issue, path string) string    // command that provides a missing value, "" if unknown
	File    func(m *checkpoint.Map) string                      // file name
	OneLine bool                                                // new JSON documents have a single line

	// Beside names the kind whose new documents have a document of this kind beside them. A
	// nil document of Fresh is not written.
	Beside string

	Heartbeat bool // the system writes the document repeatedly, also without changes

	ListTasks   bool // listings show the number of completed tasks
	ListNoPhase bool // listings do not show the phase
}

// indent returns the indentation of new JSON documents.
func (k *Kind) indent() int {
	if k.OneLine {
		return 0
	}
	return DefaultIndent
}

func (k *Kind) migrated(m *checkpoint.Map) *checkpoint.Map {
	if k.Migrate == nil {
		return m
	}
	return k.Migrate(m)
}
