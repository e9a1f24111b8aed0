// Package statepath is the one rule for where an App's files are. Its errors are
// read by people who know no packages: they do not begin with its name.
package statepath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/adrg/xdg"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/spanfile"
)

// ErrNoHome is the cause when neither XDG_STATE_HOME nor a home folder is known,
// as in a container without HOME.
var ErrNoHome = errors.New("no home folder is known")

// StateHome is the folder of all programs' state: XDG_STATE_HOME from lookup
// when it is an absolute path, else the system's default in the home folder. The
// error wraps [ErrNoHome]. Lookup is as [os.LookupEnv]; nil has no variables.
//
// The home folder is the one that the process started with, whatever lookup
// says: package xdg reads it once. Where HOME is missing it answers with the
// root, and so do container engines for a user without an entry; a state home
// there is in nobody's interest, so that the root counts as unknown.
//
// Spec: https://specifications.freedesktop.org/basedir-spec/0.8/#variables
func StateHome(lookup func(string) (string, bool)) (string, error) {
	if lookup != nil {
		v, _ := lookup(env.KeyStateHome)
		if v = strings.TrimSpace(v); filepath.IsAbs(v) {
			return filepath.Clean(v), nil
		}
	}
	if !filepath.IsAbs(xdg.Home) || filepath.Dir(xdg.Home) == filepath.Clean(xdg.Home) {
		return "", ErrNoHome
	}
	return xdg.StateHome, nil
}

// TracesFile is the App's span file in the state home:
//
//	/home/ada/.local/state/shop/traces/spans.jsonl
//
// The error wraps [ErrNoHome] and names what to set. Nothing is created, and
// <APP>_TRACES_FILE is not looked at.
func TracesFile(app string, lookup func(string) (string, bool)) (string, error) {
	home, err := StateHome(lookup)
	if err != nil {
		return "", fmt.Errorf("%w: set %s%s to a path, or %s to a collector's URL",
			err, env.Prefix(app), env.SuffixTracesFile, env.KeyOTLPEndpoint)
	}
	return spans(home, Folder(app)).Path(spanfile.Data), nil
}

// maxFolder keeps a folder's name under the 255 bytes that file systems allow,
// with room for what profiles append to it.
const maxFolder = 100

// Folder makes one path element of the App: it never leads to another folder and
// is a legal name on every system. Letters and digits of any script, dots,
// hyphens and underscores stay; every other character, and a dot at either end,
// is one underscore. A name that Windows reserves (con, nul, com1) gets an
// underscore before it; what is longer than 100 bytes is cut. An App without a
// letter or digit is "app".
func Folder(app string) string {
	app = strings.TrimSpace(app)
	if !strings.ContainsFunc(app, isWord) {
		return "app"
	}
	name := strings.Map(func(r rune) rune {
		if isWord(r) || strings.ContainsRune(".-_", r) {
			return r
		}
		return '_'
	}, app)
	if len(name) > maxFolder {
		// Without the rest of a character that the cut went through.
		name = strings.ToValidUTF8(name[:maxFolder], "")
	}
	if name[0] == '.' {
		name = "_" + name[1:]
	}
	if last := len(name) - 1; name[last] == '.' {
		name = name[:last] + "_"
	}
	if reserved(name) {
		name = "_" + name
	}
	return name
}

func isWord(r rune) bool {
	return r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// reserved tells the names of Windows's devices, with any extension.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	if len(stem) != 4 || stem[3] < '1' || stem[3] > '9' {
		return false
	}
	return stem[:3] == "com" || stem[:3] == "lpt"
}

// spans are the names of the span files in an App's folder of the state home.
func spans(stateHome, folder string) spanfile.Names {
	return spanfile.InFolder(filepath.Join(stateHome, folder, "traces"))
}

// Newest is the span file in the state home that was written last, of all Apps
// and all of their processes, the first by App when two are equal. Folders and
// files that cannot be read count as absent. The error wraps [fs.ErrNotExist]
// when there is none.
func Newest(stateHome string) (string, error) {
	apps, err := os.ReadDir(stateHome)
	if err != nil {
		return "", fmt.Errorf("newest span file: %w", err)
	}
	newest, latest := "", time.Time{}
	for _, app := range apps {
		if !app.IsDir() {
			continue
		}
		files, err := spans(stateHome, app.Name()).Spans(true)
		if err != nil {
			continue // somebody else's folder
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err == nil && (newest == "" || info.ModTime().After(latest)) {
				newest, latest = file, info.ModTime()
			}
		}
	}
	if newest == "" {
		return "", fmt.Errorf("newest span file: %w: %s", fs.ErrNotExist, spans(stateHome, "*").Path(spanfile.Data))
	}
	return newest, nil
}
