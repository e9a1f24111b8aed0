//go:build race

package redact

// raceEnabled tells that the race detector is on, which allocates.
const raceEnabled = true
