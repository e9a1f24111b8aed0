// Package semconv is being written.
package semconv
