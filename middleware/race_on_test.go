//go:build race

package middleware

// raceEnabled tells that the race detector is on, which allocates.
const raceEnabled = true

// RaceEnabled is raceEnabled for the external tests.
const RaceEnabled = raceEnabled
