package golang

import (
	"bytes"
	"fmt"
	"go/version"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// row is one line of the failure table: a symptom and the edit of the recipe.
// edit says what it changed, "" where it does not apply.
type row struct {
	rule    string
	symptom *lazyregexp.Regexp
	edit    func(p lang.Project, r *schemas.Recipe, match [][]byte) string
}

// table is the failure table of Go (design 7), most
// certain cause first.
var table = []row{
	{"flag_newer_than_go", lazyregexp.New(`parsing \$?GOFLAGS: unknown flag (-[\w-]+)`), dropFlag},
	{"newer_go_required", lazyregexp.New(`requires go >= (\d[\w.]*)|note: module requires Go (\d[\w.]*)|invalid go version '(\d[\w.]*)'|(?:compile: version .* does not match|package (?:slices|maps|cmp|log/slog|iter|unique|math/rand/v2) is not in (?:GOROOT|std))`), newerGo},
	{"missing_go_sum_entry", lazyregexp.New(`missing go\.sum entry|updates to go\.(?:mod|sum) needed|no required module provides package|cannot find module providing package|go: updating go\.mod|module lookup disabled by GOPROXY=off`), completeSums},
	{"missing_c_header", lazyregexp.New(`fatal error: ([\w./+-]+\.h): No such file or directory`), headerPackage},
	{"missing_c_library", lazyregexp.New(`cannot find -l([\w.+-]+)`), libraryDev},
	{"missing_pkg_config", lazyregexp.New(`No package '([\w.+-]+)' found|Package ([\w.+-]+) was not found in the pkg-config search path`), pkgConfigDev},
	{"missing_program", lazyregexp.New(`exec: "([\w.+-]+)": executable file not found in \$PATH`), program},
	{"nothing_to_embed", lazyregexp.New(`(?m)^([\w./-]+)\.go:\d+:\d+: pattern (\S+): (?:no matching files found|cannot embed directory \S+: contains no embeddable files)`), fileToEmbed},
	{"inconsistent_vendoring", lazyregexp.New(`inconsistent vendoring in `), ignoreVendor},
}

// Repair looks a failed log up in the table. An edit that was tried before is
// not tried again.
func (Language) Repair(p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool) {
	for _, row := range table {
		match := row.symptom.FindSubmatch(log)
		if match == nil {
			continue
		}
		edited := copied(r)
		edit := row.edit(p, &edited, match)
		if edit == "" || slices.ContainsFunc(r.Repairs, func(x schemas.Repair) bool { return x.Rule == row.rule && x.Edit == edit }) {
			continue
		}
		edited.Repairs = append(slices.Clone(r.Repairs), schemas.Repair{Rule: row.rule, Symptom: lineWith(log, match[0]), Edit: edit})
		return edited, true
	}
	return r, false
}

func cloneCommands(cs []schemas.Command) []schemas.Command {
	out := slices.Clone(cs)
	for i := range out {
		out[i].Argv, out[i].Env = slices.Clone(out[i].Argv), maps.Clone(out[i].Env)
	}
	return out
}

// lineWith is the line of a log in which a match begins, cut short.
func lineWith(log, match []byte) string {
	at := bytes.Index(log, match)
	start := bytes.LastIndexByte(log[:at], '\n') + 1
	line, _, _ := bytes.Cut(log[start:], []byte("\n"))
	return strings.ToValidUTF8(strings.TrimSpace(string(line[:min(len(line), 300)])), "?")
}

func dropFlag(_ lang.Project, r *schemas.Recipe, match [][]byte) string {
	flag := string(match[1])
	var kept []string
	for _, f := range strings.Fields(r.Variables["GOFLAGS"]) {
		if name, _, _ := strings.Cut(f, "="); name != flag {
			kept = append(kept, f)
		}
	}
	if flags := strings.Join(kept, " "); flags != r.Variables["GOFLAGS"] {
		r.Variables["GOFLAGS"] = flags
		return "GOFLAGS without " + flag
	}
	return ""
}

// newerGo takes the next minor that can be had, at least the one asked for.
func newerGo(p lang.Project, r *schemas.Recipe, match [][]byte) string {
	want := ""
	for _, m := range match[1:] {
		if len(m) > 0 {
			want = string(m)
		}
	}
	for _, t := range newestPatches(p.Available) {
		newer := version.Compare("go"+minorOf(t.Version), "go"+minorOf(r.Toolchain.Version)) > 0
		if newer && (want == "" || version.Compare("go"+t.Version, "go"+want) >= 0) {
			return useGo(r, t.Version)
		}
	}
	return ""
}

// useGo moves a recipe to another Go: its path stands in variables and commands.
func useGo(r *schemas.Recipe, v string) string {
	old := goRoot(*r)
	edit := fmt.Sprintf("go %s instead of %s", v, r.Toolchain.Version)
	r.Toolchain = schemas.Toolchain{Name: Name, Version: v}
	fresh := variables(*r)
	for k, text := range r.Variables {
		if _, ok := fresh[k]; !ok && k != "GOPATH" && k != "GO111MODULE" {
			fresh[k] = text
		}
	}
	if strings.Contains(r.Variables["GOFLAGS"], "-mod=mod") {
		fresh["GOFLAGS"] = strings.TrimSpace(fresh["GOFLAGS"] + " -mod=mod")
	}
	r.Variables = fresh
	for _, cs := range [][]schemas.Command{r.Build, r.Test, r.Setup} {
		for i := range cs {
			for j, word := range cs[i].Argv {
				if rest, ok := strings.CutPrefix(word, old+"/"); ok {
					cs[i].Argv[j] = goRoot(*r) + "/" + rest
				}
			}
		}
	}
	return edit
}

var _ lang.Chooser = Language{}

// Usable implements lang.Chooser.
func (Language) Usable(p lang.Project, _ schemas.Recipe) []lang.ToolchainRelease {
	return newestPatches(p.Available)
}

// Move implements lang.Chooser.
func (Language) Move(r schemas.Recipe, version string) schemas.Recipe {
	r = copied(r)
	useGo(&r, version)
	return r
}

func copied(r schemas.Recipe) schemas.Recipe {
	r.Variables, r.SystemPackages = maps.Clone(r.Variables), slices.Clone(r.SystemPackages)
	r.Build, r.Test, r.Setup = cloneCommands(r.Build), cloneCommands(r.Test), cloneCommands(r.Setup)
	return r
}

// completeSums resolves again and lets runs complete go.mod and go.sum.
func completeSums(p lang.Project, r *schemas.Recipe, _ [][]byte) string {
	if !atLeast(*r, "1.14") {
		r.Lock = ""
		return "lock resolved again"
	}
	flags := addFlag(*r, layoutOf(p.Solution))
	if flags == r.Variables["GOFLAGS"] || strings.Contains(r.Variables["GOFLAGS"], "-mod=") {
		return ""
	}
	r.Variables["GOFLAGS"] = flags
	r.Lock = ""
	return "GOFLAGS with -mod=mod, lock resolved again"
}

// fileToEmbed makes an empty file of the name that an embed directive asks for, before the build:
// what it embeds (a front end, generated documents) is built by other tools, and is not in the
// repository.
func fileToEmbed(_ lang.Project, r *schemas.Recipe, match [][]byte) string {
	pattern := strings.TrimPrefix(string(match[2]), "all:")
	dir, name := path.Split(pattern)
	switch {
	case strings.ContainsAny(pattern, "?[") || strings.Contains(dir, "*") || len(r.Build) == 0 || !fs.ValidPath(pattern):
		return ""
	case name == "*":
		name = "index.html"
	case strings.Contains(name, "*"):
		name = strings.ReplaceAll(name, "*", "index")
	case path.Ext(name) == "": // it is a folder
		dir, name = pattern+"/", "index.html"
	}
	file := path.Join(path.Dir(string(match[1])), dir, name)
	if !fs.ValidPath(file) {
		return ""
	}
	command := "mkdir -p " + recipe.Quote(path.Dir(file)) + " && : >>" + recipe.Quote(file)
	// In the folder of the first build, which says what module a service is of.
	r.Build = slices.Insert(r.Build, 0, schemas.Command{Argv: []string{"/bin/sh", "-c", command}, Dir: r.Build[0].Dir})
	return "an empty " + file
}

func ignoreVendor(_ lang.Project, r *schemas.Recipe, _ [][]byte) string {
	if strings.Contains(r.Variables["GOFLAGS"], "-mod=") {
		return ""
	}
	r.Variables["GOFLAGS"] = strings.TrimSpace(r.Variables["GOFLAGS"] + " -mod=mod")
	r.Lock = ""
	return "GOFLAGS with -mod=mod, lock resolved again"
}

// headers names the Debian package of C headers that Go projects include.
var headers = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"alsa/asoundlib.h": "libasound2-dev", "bzlib.h": "libbz2-dev", "curl/curl.h": "libcurl4-openssl-dev", "expat.h": "libexpat1-dev",
		"ffi.h": "libffi-dev", "git2.h": "libgit2-dev", "GL/gl.h": "libgl1-mesa-dev", "gpgme.h": "libgpgme-dev", "jpeglib.h": "libjpeg-dev",
		"krb5.h": "libkrb5-dev", "ldap.h": "libldap-dev", "libusb.h": "libusb-1.0-0-dev", "lmdb.h": "liblmdb-dev", "lz4.h": "liblz4-dev",
		"lzma.h": "liblzma-dev", "openssl/ssl.h": "libssl-dev", "openssl/evp.h": "libssl-dev", "pcap.h": "libpcap-dev", "pcap/pcap.h": "libpcap-dev",
		"pcre.h": "libpcre3-dev", "png.h": "libpng-dev", "readline/readline.h": "libreadline-dev", "rdkafka.h": "librdkafka-dev",
		"rocksdb/c.h": "librocksdb-dev", "seccomp.h": "libseccomp-dev", "security/pam_appl.h": "libpam0g-dev", "snappy-c.h": "libsnappy-dev",
		"sqlite3.h": "libsqlite3-dev", "systemd/sd-journal.h": "libsystemd-dev", "X11/Xlib.h": "libx11-dev", "webp/encode.h": "libwebp-dev",
		"xxhash.h": "libxxhash-dev", "yaml.h": "libyaml-dev", "zlib.h": "zlib1g-dev", "zmq.h": "libzmq3-dev", "zstd.h": "libzstd-dev",
	}
})

// libraries names the Debian package of what -l and pkg-config ask for, where it
// is not lib<name>-dev.
var libraries = map[string]string{
	"z": "zlib1g-dev", "zlib": "zlib1g-dev", "ssl": "libssl-dev", "crypto": "libssl-dev", "openssl": "libssl-dev", "sqlite3": "libsqlite3-dev",
	"pam": "libpam0g-dev", "X11": "libx11-dev", "x11": "libx11-dev", "systemd": "libsystemd-dev", "libsystemd": "libsystemd-dev",
	"zmq": "libzmq3-dev", "libzmq": "libzmq3-dev", "usb-1.0": "libusb-1.0-0-dev", "libusb-1.0": "libusb-1.0-0-dev",
}

func install(r *schemas.Recipe, pkg string) string {
	if pkg == "" || slices.Contains(r.SystemPackages, pkg) {
		return ""
	}
	r.SystemPackages = append(r.SystemPackages, pkg)
	slices.Sort(r.SystemPackages)
	return "package " + pkg
}

func headerPackage(_ lang.Project, r *schemas.Recipe, match [][]byte) string {
	return install(r, headers()[string(match[1])])
}

func libraryDev(_ lang.Project, r *schemas.Recipe, match [][]byte) string {
	return install(r, devPackage(string(match[1])))
}

func pkgConfigDev(_ lang.Project, r *schemas.Recipe, match [][]byte) string {
	return install(r, devPackage(string(match[1])+string(match[2])))
}

func devPackage(name string) string {
	if p, ok := libraries[name]; ok {
		return p
	}
	name = strings.ToLower(strings.TrimPrefix(name, "lib"))
	return "lib" + name + "-dev"
}

// programs are those that tests and generators of Go projects call.
var programs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"pkg-config": "pkg-config", "gcc": "gcc", "g++": "g++", "git": "git", "make": "make", "less": "less", "hg": "mercurial",
		"svn": "subversion", "bzr": "brz", "dot": "graphviz", "openssl": "openssl", "rsync": "rsync", "ssh-keygen": "openssh-client",
		"ssh": "openssh-client", "sqlite3": "sqlite3", "zip": "zip", "unzip": "unzip", "jq": "jq", "zsh": "zsh", "fish": "fish", "python3": "python3",
	}
})

func program(_ lang.Project, r *schemas.Recipe, match [][]byte) string {
	return install(r, programs()[string(match[1])])
}
