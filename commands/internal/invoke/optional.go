package invoke

import "github.com/urfave/cli/v2"

// An OptionalFlag is a flag with an optional value. A value is attached with "=". The
// word after the flag is an argument: in "--push 42", 42 is an issue.
type OptionalFlag struct{ *cli.StringFlag }

// TakesValue returns false, so that the next word is not parsed as the value.
func (OptionalFlag) TakesValue() bool { return false }

// LeftOut is the value of an optional flag that is given without a value.
const LeftOut = "-"
