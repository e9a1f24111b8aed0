package middleware

import "testing"

// What is too much is left out: a panic here would cost the span.
func TestScratchIsBounded(t *testing.T) {
	t.Parallel()
	s := getScratch()
	defer s.release()
	for range maxAttributes {
		s.str("a", "text")
		s.num("b", 1)
	}
	if got := len(s.attrs[:s.n]); got != maxAttributes {
		t.Errorf("%d attributes, want %d", got, maxAttributes)
	}
	s.str("empty", "")
	s.num("zero", 0)
	s.start()
}
