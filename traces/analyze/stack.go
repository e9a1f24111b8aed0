package analyze

import (
	"path"
	"strings"
)

// ownFrame returns the topmost frame of the program's own code in a stack trace of Go, Python or Java, as "function
// file:line"; "" when there is none, or the format is another.
func ownFrame(stack string) string {
	switch {
	case strings.Contains(stack, "Traceback (most recent call last)"):
		return pythonFrame(stack)
	case strings.Contains(stack, "\n\tat ") || strings.HasPrefix(stack, "\tat "):
		return javaFrame(stack)
	default:
		return goFrame(stack)
	}
}

// goFrame looks at pairs of lines: the function, then a tab and the place.
func goFrame(stack string) string {
	function := ""
	for line := range strings.Lines(stack) {
		line = strings.TrimRight(line, "\r\n")
		place, ok := strings.CutPrefix(line, "\t")
		if !ok {
			function = line
			continue
		}
		place, _, _ = strings.Cut(place, " +0x")
		if function != "" && isOwnGo(function, place) {
			return goFunction(function) + " " + path.Base(place)
		}
		function = ""
	}
	return ""
}

// isOwnGo reports whether a frame is neither Go's own nor of a module that the program requires, nor of tracing.
func isOwnGo(function, place string) bool {
	if strings.HasPrefix(function, "created by ") || strings.HasPrefix(function, "panic(") || strings.HasPrefix(function, "github.com/waymark-trace/waymark/") {
		return false
	}
	if strings.HasPrefix(function, "main.") {
		return true
	}
	if strings.Contains(place, "/pkg/mod/") || strings.Contains(place, "/vendor/") || strings.Contains(place, "@") || strings.Contains(place, "/go/src/") {
		return false
	}
	// Compiled with -trimpath, a place begins with the package; those of Go's library have no dot in front.
	first, _, _ := strings.Cut(place, "/")
	return path.IsAbs(place) || strings.Contains(place, `:\`) || strings.Contains(first, ".")
}

// goFunction is a function without its arguments: "main.(*cart).pay".
func goFunction(line string) string {
	if i := strings.LastIndexByte(line, '('); i > 0 && strings.HasSuffix(line, ")") {
		line = line[:i]
	}
	return line[strings.LastIndexByte(line, '/')+1:]
}

// pythonFrame looks at lines like `  File "/app/shop.py", line 41, in pay`; the last call is the topmost.
func pythonFrame(stack string) (frame string) {
	for line := range strings.Lines(stack) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), `File "`)
		if !ok {
			continue
		}
		file, rest, _ := strings.Cut(rest, `", line `)
		number, function, _ := strings.Cut(rest, ", in ")
		if strings.Contains(file, "site-packages/") || strings.Contains(file, "/lib/python") || strings.HasPrefix(file, "<") {
			continue
		}
		frame = function + " " + path.Base(strings.ReplaceAll(file, `\`, "/")) + ":" + number
	}
	return frame
}

// javaFrame looks at lines like "\tat com.shop.Cart.pay(Cart.java:41)".
func javaFrame(stack string) string {
	for line := range strings.Lines(stack) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
		if !ok {
			continue
		}
		rest = rest[strings.LastIndexByte(rest, '/')+1:] // the module
		if isLibraryOfJava(rest) {
			continue
		}
		function, place, _ := strings.Cut(strings.TrimSuffix(rest, ")"), "(")
		return function + " " + place
	}
	return ""
}

func isLibraryOfJava(function string) bool {
	for _, prefix := range [...]string{
		"java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "kotlin.", "scala.", "org.springframework.", "org.apache.", "io.netty.",
		"io.opentelemetry.", "reactor.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// withoutData writes the data of a message as *: quoted text, digits, ids.
func withoutData(message string) string {
	var b strings.Builder
	message = message[:min(len(message), maxShape)]
	for at := 0; at < len(message); {
		c := message[at]
		if isQuote(c) && (at == 0 || !isLetter(message[at-1])) { // the one in "can't" is none
			if end := strings.IndexByte(message[at+1:], c); end >= 0 {
				b.WriteByte('*')
				at += end + 2
				continue
			}
		}
		b.WriteByte(c)
		at++
	}
	return strings.ToValidUTF8(withoutValues(b.String()), "\ufffd")
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
