//go:build unix

package jsonlexport_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel"

	"github.com/waymark-trace/waymark/jsonlexport"
)

var systemChildren = map[string]func() int{"limited": childLimited}

// childLimited runs under a limit on the size of its files, goes on after the
// limit is lifted, and prints its account.
func childLimited() int {
	var handled atomic.Int64
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) { handled.Add(1) }))
	e, err := jsonlexport.New(os.Getenv(childPath))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	var flushErr error
	for i := 0; i < 1000 && flushErr == nil; i++ {
		end(e, "before", "before", "before")
		flushErr = e.ForceFlush(background())
	}
	if !errors.Is(flushErr, syscall.EFBIG) {
		fmt.Println("error: flush:", flushErr)
		return 1
	}
	for range 10 {
		end(e, "full")
		_ = e.ForceFlush(background())
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	end(e, "after")
	if err := e.ForceFlush(background()); err != nil {
		fmt.Println("error: after:", err)
		return 1
	}
	shutdownErr := e.Shutdown(background())
	if shutdownErr == nil || !errors.Is(shutdownErr, syscall.EFBIG) {
		fmt.Println("error: shutdown:", shutdownErr)
		return 1
	}
	account, err := json.Marshal(e.Stats())
	fmt.Println(string(account), handled.Load())
	if err != nil {
		return 1
	}
	return 0
}

// ulimit -f stands for a full disk where none can be made: a write is cut short,
// the next one fails, and the process gets SIGXFSZ. It lives on, counts what is
// lost, leaves no torn line, and writes again when there is room.
func TestFullUnderUlimit(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set ulimit with")
	}
	path := spanPath(t)
	cmd := exec.CommandContext(soon(t), sh, "-c", `ulimit -S -f 33; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), childKey+"=limited", childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	var got jsonlexport.Stats
	var handled int
	account, rest, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if _, err := fmt.Sscan(rest, &handled); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if err := json.Unmarshal([]byte(account), &got); err != nil {
		t.Fatal(err)
	}
	checkBalance(t, got)
	if got.Queued != 0 || got.Dropped != 0 || got.Failed < 10 {
		t.Errorf("Stats %+v, want at least 10 failed and nothing queued or dropped", got)
	}
	names := spanNames(t, path) // every line is whole
	if uint64(len(names)) != got.Exported {
		t.Errorf("%d spans in the file, %d exported", len(names), got.Exported)
	}
	if last := names[len(names)-1]; last != "after" {
		t.Errorf("the last span is %q, want the one written when there was room again", last)
	}
	if handled != 1 {
		t.Errorf("the error handler was told %d times, want once", handled)
	}
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"spans.jsonl", "spans.1.jsonl", "spans.lock"} {
		path := filepath.Join(t.TempDir(), file)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := jsonlexport.New(filepath.Join(filepath.Dir(path), "spans.jsonl"))
		if e != nil || !errors.Is(err, jsonlexport.ErrNotOurs) || !strings.Contains(err.Error(), "FIFO") {
			t.Errorf("%s: New = %v, %v, want ErrNotOurs and FIFO", file, e, err)
		}
	}
}

func TestDevice(t *testing.T) {
	t.Parallel()
	e, err := jsonlexport.New("/dev/null")
	if e != nil || !errors.Is(err, jsonlexport.ErrNotOurs) || !strings.Contains(err.Error(), "device") {
		t.Errorf("New = %v, %v, want ErrNotOurs and device", e, err)
	}
	if _, err := os.Stat("/dev/null.lock"); !os.IsNotExist(err) {
		t.Errorf("a lock was made beside the device: %v", err)
	}
}

func TestFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	path := "/etc/passwd"
	if os.Geteuid() == 0 {
		path = spanPath(t)
		writeFile(t, path, `{"resourceSpans":[]}`+"\n")
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Skipf("root may not give files away here: %v", err)
		}
	}
	before := readFile(t, path)
	e, err := jsonlexport.New(path)
	if e != nil || !errors.Is(err, jsonlexport.ErrNotOurs) || !strings.Contains(err.Error(), "another user") {
		t.Errorf("New = %v, %v, want ErrNotOurs and another user", e, err)
	}
	if got := readFile(t, path); got != before {
		t.Error("the file was touched")
	}
}

// A file that others could read is ours alone after the start.
func TestModeIsTightened(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	writeFile(t, path, "")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	mustNew(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %v, want 0600", got)
	}
}

// Another process that has just started holds the lock, and is about to clear.
func TestLockDeletedAndFileAboutToBeCleared(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	line := int64(len(encoded(t, oneStub("0"))))
	e := mustNew(t, path, jsonlexport.WithMaxFileBytes(line))
	for _, name := range []string{"1", "2"} {
		end(e, name)
		flush(t, e)
	}
	removeLock(t, path)
	lock, err := os.Create(lockOf(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	end(e, "3")
	flush(t, e)
	wantStats(t, e, jsonlexport.Stats{Ended: 3, Exported: 1, Failed: 2})
	wantSpans(t, e.Path(), "3")
}

// A child that is being started has copies of all descriptors for a moment. The
// lock of an exporter that has ended is free all the same.
func TestLockIsFreeWhileAChildStarts(t *testing.T) {
	t.Parallel()
	path := spanPath(t)
	e := mustNew(t, path)
	copied := copyOfLock(t, lockOf(path))
	shutdown(t, e)
	if second := mustNew(t, path); second.Path() != path {
		t.Errorf("the file is still taken: %q", second.Path())
	}
	if err := syscall.Close(copied); err != nil {
		t.Error(err)
	}
}

// copyOfLock is what a child gets: a descriptor of the same open file.
func copyOfLock(t *testing.T, path string) int {
	t.Helper()
	want, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	own, ok := want.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("no inode")
	}
	for fd := range 1024 {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) != nil || st.Ino != own.Ino || st.Dev != own.Dev {
			continue
		}
		copied, err := syscall.Dup(fd)
		if err != nil {
			t.Fatal(err)
		}
		return copied
	}
	t.Fatalf("no descriptor of %s", path)
	return -1
}
