package output

import (
	"encoding/json"
	"io"
)

// Hooks is the result of hooks install, uninstall and status. Changes describes completed
// changes or, if DryRun is true, planned changes. Kept lists changed files.
type Hooks struct {
	Type    string   `json:"type"`
	Action  string   `json:"action"`
	DryRun  bool     `json:"dry_run"`
	Changes []string `json:"changes"`
	Kept    []Kept   `json:"kept"`
	Hooks   []Hook   `json:"hooks"`
	Agents  []Agent  `json:"agents"`
}

// Kept names a changed file and the copy of its former content.
type Kept struct {
	Path string `json:"path"`
	Copy string `json:"copy"`
}

// Hook is one of git's hooks. Way is "config" or "file". Runs reports whether the canary
// ran; otherwise Why is the reason.
type Hook struct {
	Event   string `json:"event"`
	Way     string `json:"way" empty:"null"`
	Place   string `json:"place" empty:"null"`
	Manager string `json:"manager" empty:"null"`
	Runs    bool   `json:"runs"`
	Why     string `json:"why"`
	Setting string `json:"setting"`
}

// Agent is an agent's settings file with its installed events.
type Agent struct {
	Agent  string   `json:"agent"`
	Path   string   `json:"path"`
	Events []string `json:"events"`
}

// WriteContext writes the JSON object with which a hook passes context to an agent. The
// agent defines this format; it is not a record.
func WriteContext(w io.Writer, event, text string) error {
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	return json.NewEncoder(w).Encode(map[string]specific{"hookSpecificOutput": {event, text}})
}
