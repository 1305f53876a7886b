package golang

import (
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// alien is the type of what has no method of the tree's: a string, a time.Time.
var alien = []string{mask.Element}

func isAlien(of []string) bool { return len(of) > 0 && of[0] == mask.Element }

// written is the path of a type as it is written; nil where that is not known, as of an
// interface without a name, or of one of the standard library: a type of the tree may be it.
func (r *maskReader) written(n syntax.Node, s *scope) []string {
	if r.chain++; r.chain > longest {
		r.chain--
		return nil
	}
	defer func() { r.chain-- }()
	switch n.Kind() {
	case "type_identifier":
		switch text := n.Text(); {
		case s.has(text), text == "error", text == "any":
			return nil
		case slices.Contains(predeclared, text) && !r.declared[text]:
			return alien
		default:
			return []string{text}
		}
	case "qualified_type":
		of, name := n.Child("package"), n.Child("name").Text()
		if home := r.home(of, s); home != "" {
			return standardType(home, name)
		}
		return []string{of.Text(), name}
	case "generic_type":
		if of := r.written(n.Child("type"), s); !isAlien(of) { // sync/atomic.Pointer[T]
			return of
		}
	case "pointer_type", "parenthesized_type":
		return r.written(last(n), s)
	case "slice_type", "array_type", "implicit_length_array_type":
		return r.holding(mask.Each, n.Child("element"), s)
	case "map_type", "channel_type":
		return r.holding(mask.Each, n.Child("value"), s)
	case "function_type":
		return r.holding(mask.Outcome, results(n)[0], s)
	}
	return nil
}

// holding is the type of what holds, or gives, something of a type.
func (r *maskReader) holding(word string, n syntax.Node, s *scope) []string {
	if of := r.written(n, s); of != nil {
		return append([]string{word}, of...)
	}
	return nil
}

// results are the types of what a function gives; one that is none where it gives nothing.
func results(n syntax.Node) []syntax.Node {
	result := n.Child("result")
	if !result.Is("parameter_list") {
		return []syntax.Node{result}
	}
	var out []syntax.Node
	for p := range result.Children() {
		if !p.Is("parameter_declaration") {
			continue
		}
		for range held(p) {
			out = append(out, p.Child("type"))
		}
	}
	if out == nil {
		return []syntax.Node{{}}
	}
	return out
}

// gives are the types of what a function gives.
func (r *maskReader) gives(n syntax.Node, s *scope) [][]string {
	var out [][]string
	for _, t := range results(n) {
		out = append(out, r.written(t, s))
	}
	return out
}

// home is the path of the package of the standard library that an identifier stands for.
func (r *maskReader) home(n syntax.Node, s *scope) string {
	p := r.imported(n, s)
	if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
		return ""
	}
	return p
}

// typeOf is the type of an expression, as far as the file tells: what others tell stands in
// it by its name.
func (r *maskReader) typeOf(n syntax.Node, s *scope) []string {
	if r.chain++; r.chain > longest {
		r.chain--
		return nil
	}
	defer func() { r.chain-- }()
	switch n.Kind() {
	case "composite_literal":
		return r.written(n.Child("type"), s)
	case "parenthesized_expression":
		return r.typeOf(n.First(), s)
	case "unary_expression":
		of := r.typeOf(n.Child("operand"), s)
		if strings.HasPrefix(n.Text(), "<-") {
			return r.further(of, mask.Each)
		}
		return of
	case "binary_expression":
		return r.combined(n, s)
	case "slice_expression":
		return r.typeOf(n.Child("operand"), s)
	case "index_expression":
		return r.further(r.typeOf(n.Child("operand"), s), mask.Each)
	case "type_assertion_expression", "type_conversion_expression":
		return r.written(n.Child("type"), s)
	case "func_literal":
		return r.holding(mask.Outcome, results(n)[0], s)
	case "identifier", "selector_expression":
		if p := r.pathOf(n, s); p[0] != "?" {
			return p
		}
	case "call_expression":
		return r.outcome(n, s, 0)
	}
	return nil
}

// combined is the type of x + y: both are of one, save where one is a constant.
func (r *maskReader) combined(n syntax.Node, s *scope) []string {
	left, right := n.Child("left"), n.Child("right")
	if left.Is() && right.Is() && strings.ContainsAny(string(r.source[left.End():right.Start()]), "=!<>") && !strings.Contains(string(r.source[left.End():right.Start()]), "<<") {
		return nil
	}
	if of := r.typeOf(left, s); of != nil {
		return of
	}
	return r.typeOf(right, s)
}

// outcome is the type of one of the values that a call gives.
func (r *maskReader) outcome(n syntax.Node, s *scope, at int) []string {
	of := n.Child("function")
	if of.Is("slice_type", "map_type", "array_type", "channel_type", "function_type", "generic_type") {
		return r.written(of, s)
	}
	arguments := n.Child("arguments")
	if of.Is("identifier") && !s.has(of.Text()) && slices.Contains(predeclared, of.Text()) && !r.declared[of.Text()] {
		switch of.Text() {
		case "new", "make":
			return r.written(arguments.First(), s)
		case "append":
			return r.typeOf(arguments.First(), s)
		case "min", "max", "recover", "error", "any":
			return nil
		}
		return alien
	}
	if of.Is("selector_expression") {
		if home := r.home(of.Child("operand"), s); home != "" {
			return standardResult(home, of.Child("field").Text(), at)
		}
	}
	return r.further(r.pathOf(of, s), mask.OutcomeOf(at))
}

// further is what something has, or gives.
func (r *maskReader) further(of []string, word string) []string {
	switch {
	case len(of) == 0 || of[0] == "?" || len(of) > 12:
		return nil
	case isAlien(of):
		return of
	case word == of[0]:
		return of[1:]
	}
	return append(slices.Clip(of), word)
}

// standardType is a type of the standard library.
func standardType(home, name string) []string {
	if slices.Contains(strings.Fields(faces()[home]), name) {
		return nil
	}
	return alien
}

// standardResult is the type of what a function of the standard library gives. Errors may
// be of the tree, save those that are made there and then.
func standardResult(home, name string, at int) []string {
	if at > 0 || slices.Contains(strings.Fields(relays()[home]), name) || relays()[home] == "*" {
		return nil
	}
	return alien
}

// faces are the interfaces of the standard library that others may have methods for.
var faces = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"compress/flate": "Reader Resetter", "compress/zlib": "Resetter", "container/heap": "Interface", "context": "Context",
		"crypto": "Decapsulator Decrypter Encapsulator MessageSigner Signer SignerOpts", "crypto/cipher": "AEAD Block BlockMode Stream",
		"crypto/elliptic": "Curve", "crypto/tls": "ClientSessionCache", "database/sql": "Result Scanner",
		"database/sql/driver": "ColumnConverter Conn ConnBeginTx ConnPrepareContext Connector Driver DriverContext Execer ExecerContext " +
			"NamedValueChecker Pinger Queryer QueryerContext Result Rows RowsNextResultSet SessionResetter Stmt StmtExecContext StmtQueryContext Tx Validator Valuer ValueConverter",
		"encoding":        "BinaryAppender BinaryMarshaler BinaryUnmarshaler TextAppender TextMarshaler TextUnmarshaler",
		"encoding/binary": "AppendByteOrder ByteOrder", "encoding/gob": "GobDecoder GobEncoder", "encoding/json": "Marshaler Unmarshaler",
		"encoding/xml": "Marshaler MarshalerAttr TokenReader Unmarshaler UnmarshalerAttr", "expvar": "Var", "flag": "Getter Value",
		"fmt": "Formatter GoStringer ScanState Scanner State Stringer", "go/ast": "Node Visitor", "go/types": "Importer ImporterFrom Sizes Type",
		"hash": "Cloner Hash Hash32 Hash64 XOF", "image": "Image PalettedImage RGBA64Image", "image/color": "Color Model",
		"image/draw": "Drawer Image Quantizer RGBA64Image", "image/png": "EncoderBufferPool",
		"io": "ByteReader ByteScanner ByteWriter Closer ReadCloser ReadSeekCloser ReadSeeker ReadWriteCloser ReadWriteSeeker ReadWriter Reader " +
			"ReaderAt ReaderFrom RuneReader RuneScanner Seeker StringWriter WriteCloser WriteSeeker Writer WriterAt WriterTo",
		"io/fs":    "DirEntry FS File FileInfo GlobFS ReadDirFS ReadDirFile ReadFileFS ReadLinkFS StatFS SubFS",
		"log/slog": "Handler Leveler LogValuer", "math/rand": "Source Source64", "math/rand/v2": "Source", "mime/multipart": "File",
		"net": "Addr Conn Error Listener PacketConn", "net/http": "CloseNotifier CookieJar File FileSystem Flusher Handler Hijacker Pusher ResponseWriter RoundTripper",
		"net/http/cookiejar": "PublicSuffixList", "net/http/httputil": "BufferPool", "net/rpc": "ClientCodec ServerCodec", "net/smtp": "Auth",
		"os": "DirEntry FileInfo Signal", "runtime": "Error", "sort": "Interface", "sync": "Locker", "syscall": "Conn RawConn Sockaddr", "testing/quick": "Generator",
	}
})

// relays are the functions that give what they got, or got to know: "*" for all.
var relays = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"cmp": "*", "maps": "*", "slices": "*", "iter": "*", "unique": "*", "weak": "*", "sync": "OnceValue OnceValues", "errors": "AsType Unwrap Join",
		"context": "WithCancel WithCancelCause WithDeadline WithDeadlineCause WithTimeout WithTimeoutCause WithValue WithoutCancel Cause", "os/signal": "NotifyContext",
		"crypto/cipher": "*", "crypto/hmac": "New", "encoding/ascii85": "*", "encoding/base32": "NewDecoder NewEncoder", "encoding/base64": "NewDecoder NewEncoder",
		"encoding/hex": "Dumper NewDecoder NewEncoder", "go/types": "Default Instantiate Unalias", "image": "Decode", "io": "LimitReader MultiReader MultiWriter NopCloser TeeReader",
		"io/fs": "*", "io/ioutil": "NopCloser", "log": "Writer", "net": "Dial DialTimeout Listen", "sort": "Reverse", "testing/iotest": "*",
		"net/http":          "AllowQuerySemicolons DefaultTransport FS FileServer FileServerFS MaxBytesHandler MaxBytesReader NewFileTransport StripPrefix TimeoutHandler",
		"net/http/httputil": "NewChunkedReader NewChunkedWriter", "flag": "Lookup", "expvar": "Get", "runtime/pprof": "WithLabels", "reflect": "TypeAssert",
	}
})

// lent are members of types of the standard library that may hold what is of the tree.
var lent = strings.Fields(`Body Conn Context Driver FS Handler Jar L Level Listener
	NetConn R Rand S Source Stderr Stdin Stdout Transport Value W Writer`)
