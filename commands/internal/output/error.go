package output

// Error is the record of a failed command. Hint is a suggested command or empty.
type Error struct {
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// NewError returns the record of a failed command.
func NewError(code int, kind, message, hint string) Error {
	return Error{Type: "error", Code: code, Kind: kind, Message: message, Hint: hint}
}
