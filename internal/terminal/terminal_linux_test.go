package terminal_test

import (
	"testing"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/internal/testpty"
)

func TestColor(t *testing.T) {
	t.Parallel()
	tty := testpty.Open(t, 80).Tty
	for name, c := range map[string]struct {
		vars env.Map
		want bool
	}{
		"nothing set":       {env.Map{}, true},
		"NO_COLOR":          {env.Map{"NO_COLOR": "1"}, false},
		"an empty NO_COLOR": {env.Map{"NO_COLOR": ""}, true},
		"a dumb terminal":   {env.Map{"TERM": "dumb"}, false},
		"another":           {env.Map{"TERM": "xterm"}, true},
	} {
		if got := terminal.Color(tty, c.vars.Lookup); got != c.want {
			t.Errorf("%s: Color = %v, want %v", name, got, c.want)
		}
	}
}

func TestWidth(t *testing.T) {
	t.Parallel()
	tty, unknown := testpty.Open(t, 93).Tty, testpty.Open(t, 0).Tty
	for name, c := range map[string]struct {
		vars       env.Map
		want, none int // where the terminal has 93 columns, and where it does not know
	}{
		"the terminal says":    {env.Map{}, 93, 0},
		"COLUMNS":              {env.Map{"COLUMNS": "40"}, 40, 40},
		"COLUMNS is no number": {env.Map{"COLUMNS": "wide"}, 93, 0},
		"COLUMNS is zero":      {env.Map{"COLUMNS": "0"}, 93, 0},
		"COLUMNS is negative":  {env.Map{"COLUMNS": "-1"}, 93, 0},
	} {
		if got := terminal.Width(tty, c.vars.Lookup); got != c.want {
			t.Errorf("%s: Width = %d, want %d", name, got, c.want)
		}
		if got := terminal.Width(unknown, c.vars.Lookup); got != c.none {
			t.Errorf("%s, of a terminal without a size: Width = %d, want %d", name, got, c.none)
		}
	}
}
