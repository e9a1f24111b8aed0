package hiding

import (
	"net/url"
	"path"
	"strings"
)

// dataImage is how the URL of an image begins that holds the image.
const dataImage = "data:image/"

// leastBase64 is how many characters of base64 an image has at least.
const leastBase64 = 24

// withoutImages hides the images in a text.
func (e editor) withoutImages(s string) string {
	if !e.hidden.images && !e.hidden.longImages {
		return s
	}
	if e.isHiddenImage(s) {
		return Placeholder
	}
	var b strings.Builder
	for {
		at := indexFold(s, dataImage)
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := at + dataURL(s[at:])
		b.WriteString(s[:at])
		if e.hidesURL(s[at:end]) {
			b.WriteString(Placeholder)
		} else {
			b.WriteString(s[at:end])
		}
		s = s[end:]
	}
}

// hidesURL reports whether a data URL of an image is hidden.
func (e editor) hidesURL(s string) bool {
	return e.hidden.images || len(s) > e.hidden.limit && indexFold(s, "base64") >= 0
}

// isHiddenImage reports whether the whole of a text is an image that is hidden: its
// bytes, in base64 or not, or an address.
func (e editor) isHiddenImage(s string) bool {
	switch {
	case isImageBase64(s), isImageBytes(s):
		return e.hidden.images || e.hidden.longImages && len(s) > e.hidden.limit
	case e.hidden.addresses:
		return isImageURL(s)
	}
	return false
}

// hidesContent reports whether a text is hidden of which something says that it is an
// image, or where there is one.
func (e editor) hidesContent(s string) bool {
	return e.hidden.images || e.hidden.longImages && len(s) > e.hidden.limit && (isAllBase64(s) || indexFold(s, dataImage) >= 0)
}

// dataURL is how long the data URL is that s begins with. One that is not in base64
// has no end that could be told.
func dataURL(s string) int {
	head, _, ok := strings.Cut(s, ",")
	if !ok || indexFold(head, "base64") < 0 {
		return len(s)
	}
	n := len(head) + 1
	for n < len(s) && (isBase64(s[n]) || strings.IndexByte("%\r\n", s[n]) >= 0) {
		n++
	}
	if next := n - len("data"); indexFold(s[next:], dataImage) == 0 {
		return next // the beginning of the next one is base64 too
	}
	return n
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("+/=-_", c) >= 0
}

// isImageBase64 reports whether s is an image in base64, as it begins.
func isImageBase64(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) >= leastBase64 && beginsAsImage(s) && isAllBase64(s)
}

// isAllBase64 looks at what was not cut.
func isAllBase64(s string) bool {
	if mark := strings.LastIndex(s, cutMark); mark >= 0 {
		s = s[:mark]
	}
	for i := range len(s) {
		if !isBase64(s[i]) && s[i] != '\r' && s[i] != '\n' {
			return false
		}
	}
	return true
}

// beginsAsImage knows the first bytes of the formats that there are: PNG, JPEG, GIF,
// WebP, TIFF, SVG, JPEG XL and 2000, HEIF and AVIF.
func beginsAsImage(s string) bool {
	for _, first := range []string{"iVBORw0KGg", "/9j/", "_9j_", "R0lGOD", "UklGR", "SUkqA", "TU0AK", "PHN2Zy", "AAAADEpYTCA", "AAAADGpQ"} {
		if strings.HasPrefix(s, first) {
			return true
		}
	}
	return strings.HasPrefix(s, "AAAA") && s[5:8] == "GZ0" && s[8:11] == "eXB"
}

// isImageBytes reports whether s is an image as it is in a file.
func isImageBytes(s string) bool {
	for _, first := range []string{"\x89PNG\r\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "RIFF", "II*\x00", "MM\x00*", "BM", "<svg"} {
		if strings.HasPrefix(s, first) {
			return first != "RIFF" && first != "BM" || strings.ContainsRune(s[:min(len(s), leastBase64)], 0)
		}
	}
	return false
}

// isImageURL reports whether the whole of a text is the address of an image, by the
// name's ending.
func isImageURL(s string) bool {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "://") || strings.ContainsAny(s, " \n") {
		return false
	}
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".png", ".jpg", ".jpeg", ".jfif", ".gif", ".webp", ".bmp", ".svg", ".tif", ".tiff", ".heic", ".heif", ".avif", ".ico", ".jxl":
		return true
	}
	return false
}

// indexFold is strings.Index for letters of any case.
func indexFold(s, part string) int {
	first := strings.ToLower(part[:1]) + strings.ToUpper(part[:1])
	for at := 0; ; at++ {
		next := strings.IndexAny(s[at:], first)
		if next < 0 || at+next+len(part) > len(s) {
			return -1
		}
		if at += next; strings.EqualFold(s[at:at+len(part)], part) {
			return at
		}
	}
}

// leastVector is how many numbers make an embedding where nothing says that they are
// one.
const leastVector = 16

// isVector reports whether an array is an embedding, or a list that holds some.
func (d *document) isVector(n node, name string) bool {
	return len(n.nodes) > 0 && d.areNumbers(n) && (len(n.nodes) >= leastVector || isVectorName(name))
}

func (d *document) areNumbers(n node) bool {
	for _, element := range n.nodes {
		if element.kind != scalar || element.start == element.end || strings.IndexByte("-0123456789", d.s[element.start]) < 0 {
			return false
		}
	}
	return true
}

// isHiddenBytes reports whether an array is the bytes of an image, as numbers.
func (d *document) isHiddenBytes(n node) bool {
	if len(n.nodes) < leastVector || !d.hidden.images && (!d.hidden.longImages || len(n.nodes) <= d.hidden.limit) {
		return false
	}
	first := d.s[n.nodes[0].start:n.nodes[3].end]
	first = strings.NewReplacer(" ", "", "\n", "", "\t", "", "\r", "").Replace(first)
	for _, begin := range []string{"137,80,78,71", "255,216,255,", "71,73,70,56", "82,73,70,70", "73,73,42,0", "77,77,0,42"} {
		if strings.HasPrefix(first, begin) {
			return true
		}
	}
	return false
}
