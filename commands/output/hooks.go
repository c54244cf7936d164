package output

import (
	"encoding/json"
	"io"
)

// Hooks is what hooks install, uninstall and status did or found. Changes are
// in words, made or, with DryRun, to be made. Kept are the files that changed.
type Hooks struct {
	Type    string   `json:"type"`
	Action  string   `json:"action"`
	DryRun  bool     `json:"dry_run"`
	Changes []string `json:"changes"`
	Kept    []Kept   `json:"kept"`
	Hooks   []Hook   `json:"hooks"`
	Agents  []Agent  `json:"agents"`
}

// Kept is a file that was changed, and where its former content is.
type Kept struct {
	Path string `json:"path"`
	Copy string `json:"copy"`
}

// Hook is one hook of git's. Way is config or file; Runs says whether a canary
// came back, and Why what is wrong where it did not.
type Hook struct {
	Event   string `json:"event"`
	Way     string `json:"way" empty:"null"`
	Place   string `json:"place" empty:"null"`
	Manager string `json:"manager" empty:"null"`
	Runs    bool   `json:"runs"`
	Why     string `json:"why"`
	Setting string `json:"setting"`
}

// Agent is one agent's settings file and the events that are in it.
type Agent struct {
	Agent  string   `json:"agent"`
	Path   string   `json:"path"`
	Events []string `json:"events"`
}

// WriteContext writes the object with which a hook hands a text to an agent.
// It is the agents' form, not one of this program's records.
func WriteContext(w io.Writer, event, text string) error {
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	return json.NewEncoder(w).Encode(map[string]specific{"hookSpecificOutput": {event, text}})
}
