package checkpoint

// Problem is something that Validate found.
type Problem struct {
	Path, Msg string
	Warning   bool
}

// Validate reports what breaks the rules of the schema.
func (r *Record) Validate(phases ...string) []Problem { return nil }
