package profile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"
)

// manifest is the file that says which profiles belong together. Field names
// and the schema are promised.
type manifest struct {
	Schema    string            `json:"schema"`
	App       string            `json:"app"`
	Version   string            `json:"version,omitempty"`
	ID        string            `json:"id"`
	PID       int               `json:"pid"`
	GoVersion string            `json:"go_version"`
	Start     time.Time         `json:"start"`
	Stop      *time.Time        `json:"stop,omitempty"` // absent: the process was killed, or still runs
	Reason    string            `json:"reason,omitempty"`
	Kinds     []string          `json:"kinds"` // as asked for
	Files     []manifestFile    `json:"files"`
	Missing   []manifestMissing `json:"missing,omitempty"`
	// DroppedParts counts the oldest parts that were removed; see WithSnapshots.
	DroppedParts int               `json:"dropped_parts,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

type manifestFile struct {
	Kind  string `json:"kind"`
	File  string `json:"file"` // beside the manifest
	Bytes int    `json:"bytes"`
	Pprof string `json:"pprof"` // the command that opens it
	// Note says why there is less in it than people expect.
	Note string `json:"note,omitempty"`
}

type manifestMissing struct {
	Kind  string `json:"kind"`
	Error string `json:"error"`
}

const schema = "waymark.profiles/v1"

// manifest returns the document as things stand. The caller holds r.mu.
func (r *recording) manifest(stop time.Time, reason string) ([]byte, error) {
	m := manifest{
		Schema: schema, App: r.cfg.app, ID: r.id, PID: r.pid, GoVersion: runtime.Version(),
		Start: r.began, Reason: reason, Kinds: r.kinds, Files: []manifestFile{}, Missing: r.missing, DroppedParts: r.droppedParts,
	}
	if !stop.IsZero() {
		m.Stop = &stop
	}
	for _, f := range r.files {
		m.Files = append(m.Files, manifestFile{Kind: f.kind, File: filepath.Base(f.path), Bytes: f.bytes, Pprof: pprofCommand(f.path), Note: f.note})
	}
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "(devel)" {
		m.Version = bi.Main.Version
	}
	for _, kv := range r.cfg.metadata {
		if kv.key == "version" {
			m.Version = kv.value
			continue
		}
		if m.Metadata == nil {
			m.Metadata = map[string]string{}
		}
		m.Metadata[kv.key] = kv.value
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return append(data, '\n'), nil
}
