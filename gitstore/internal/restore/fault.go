package restore

// faultPoint is a test hook that stops or kills a restore after each moved file and
// between its stages.
var faultPoint = func(string) error { return nil }
