package output

import "time"

// CheckpointList is the checkpoints of an issue, or with no issue those of all of them,
// newest first.
type CheckpointList struct {
	Type             string   `json:"type"`
	Issue            string   `json:"issue" empty:"null"`
	Checkpoints      []Listed `json:"checkpoints"`
	Latest           string   `json:"latest" empty:"null"`
	TotalCheckpoints int      `json:"total_checkpoints"`
}

// Listed is one checkpoint of a List.
type Listed struct {
	CheckpointID string    `json:"checkpoint_id" empty:"null"`
	Issue        string    `json:"issue" empty:"null"`
	Commit       string    `json:"commit" empty:"null"`
	CreatedAt    time.Time `json:"created_at"`
	Trigger      string    `json:"trigger"`
	Phase        string    `json:"phase"`
	Branch       string    `json:"branch" empty:"null"`
	CanResume    bool      `json:"can_resume"`
	Pinned       bool      `json:"pinned"`
	Valid        bool      `json:"valid"`
	LeftOut      bool      `json:"left_out"` // a limit kept files out of it
	Note         string    `json:"note"`
}

// Show is one checkpoint whole. Checkpoint is a *checkpoint.Record or its JSON
// as a json.RawMessage.
type Show struct {
	Type       string `json:"type"`
	Checkpoint any    `json:"checkpoint"`
	Commit     string `json:"commit" empty:"null"`
}

// Value is one value of a checkpoint's record.
type Value struct {
	Type         string `json:"type"`
	CheckpointID string `json:"checkpoint_id" empty:"null"`
	Path         string `json:"path"`
	Value        any    `json:"value"`
	Commit       string `json:"commit" empty:"null"`
}

// CheckpointDiff is what changed from one checkpoint to another.
type CheckpointDiff struct {
	Type  string        `json:"type"`
	From  string        `json:"from" empty:"null"`
	To    string        `json:"to" empty:"null"`
	State []StateChange `json:"state"`
	Files []FileChange  `json:"files"`

	// With --stat, else nil.
	FilesChanged *int `json:"files_changed"`
	LinesAdded   *int `json:"lines_added"`
	LinesDeleted *int `json:"lines_deleted"`
}

// StateChange is one path of the record. Op is added, removed, changed or moved;
// a side that does not have the path is nil, and those of what moved in a list
// are its places there, from 0.
type StateChange struct {
	Path string `json:"path"`
	Op   string `json:"op"`
	Old  any    `json:"old"`
	New  any    `json:"new"`
}

// FileChange is one file of the snapshots. From is where one that was renamed
// had been.
type FileChange struct {
	Path   string `json:"path"`
	Status string `json:"status"`
	From   string `json:"from" empty:"null"`

	// With --stat, but for a binary file, else nil.
	LinesAdded   *int `json:"lines_added"`
	LinesDeleted *int `json:"lines_deleted"`
}

// Web is a page: the address that it is served at, with its token, or the file
// that it was written to.
type Web struct {
	Type     string   `json:"type"`
	URL      string   `json:"url" empty:"null"`
	Write    bool     `json:"write"`
	File     string   `json:"file" empty:"null"`
	Warnings []string `json:"warnings"`
}

// Config is every setting.
type Config struct {
	Type     string    `json:"type"`
	Settings []Setting `json:"settings"`
}

// Setting is one setting and where its value comes from.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Help is an explanation for people.
type Help struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Version is what the program was built from. Format is the version of the
// stored form.
type Version struct {
	Type    string `json:"type"`
	Program string `json:"program"`
	Commit  string `json:"commit" empty:"null"`
	Date    string `json:"date" empty:"null"`
	Go      string `json:"go"`
	Format  string `json:"format"`
}
