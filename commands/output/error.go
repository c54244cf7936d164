package output

// Error is a command that failed. Hint is a command to type, or empty.
type Error struct {
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// NewError is the record of a command that failed.
func NewError(code int, kind, message, hint string) Error {
	return Error{Type: "error", Code: code, Kind: kind, Message: message, Hint: hint}
}
