package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// writeFile writes a file that is either whole or not there. It makes the folder
// again if somebody has cleared it away meanwhile.
func writeFile(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*-"+filepath.Base(path)) // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(os.Remove(tmp.Name())))
		}
	}()
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// probe finds out now whether the profiles can be written in the end.
func probe(dir string, write func(string, []byte) error) error {
	name := filepath.Join(dir, fmt.Sprintf(".probe-%d", os.Getpid()))
	if err := write(name, []byte("waymark tries whether it can write here\n")); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(name))
}

// pprofCommand is ready to paste into a shell.
func pprofCommand(path string) string { return "go tool pprof " + shellWord(path) }

// partsCommand opens all parts of a profile as one.
func partsCommand(base, kind string) string {
	return "go tool pprof " + shellWord(base) + "." + kind + "*.pprof"
}

func shellWord(s string) string {
	bare := strings.ReplaceAll(s, "/", "_")
	switch {
	case fileWord(bare) == bare:
		return s
	case runtime.GOOS == "windows":
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
