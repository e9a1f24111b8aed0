//go:build !race

package middleware

// raceEnabled: the race detector is on, and allocates.
const raceEnabled = false
