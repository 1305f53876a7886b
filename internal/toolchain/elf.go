package toolchain

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// relocate makes every ELF file of a copied tree look for shared libraries of the
// tree relative to itself: a search path that names the old place is overwritten
// where it stands, which needs no tool, because the new one is shorter.
func relocate(dir, oldPrefix string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !isELF(path) {
			return err
		}
		up, err := filepath.Rel(filepath.Dir(path), filepath.Join(dir, "lib"))
		if err != nil {
			return err
		}
		if err := setRunPath(path, oldPrefix, strings.TrimSuffix("$ORIGIN/"+up, "/.")); err != nil {
			return fmt.Errorf("search path of %s: %w", filepath.Base(path), err)
		}
		return nil
	})
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := f.Read(head)
	return n == 4 && string(head) == elf.ELFMAG
}

// setRunPath overwrites DT_RPATH or DT_RUNPATH where it names oldPrefix.
func setRunPath(path, oldPrefix, want string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	table := f.Section(".dynstr")
	changed := false
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		offsets, err := f.DynValue(tag)
		if err != nil || table == nil || len(offsets) == 0 {
			continue
		}
		at := table.Offset + offsets[0]
		end := at + uint64(max(0, bytes.IndexByte(data[at:], 0)))
		old := string(data[at:end])
		if !strings.Contains(old, oldPrefix) {
			continue
		}
		if len(want) > len(old) {
			return fmt.Errorf("%q has no room for %q", old, want)
		}
		if shared(f, old) {
			return fmt.Errorf("%q shares its bytes with another name", old)
		}
		copy(data[at:end], want+strings.Repeat("\x00", len(old)-len(want)))
		changed = true
	}
	if !changed {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, info.Mode()); err != nil {
		return err
	}
	return os.Chtimes(path, stamp, stamp)
}

// shared tells whether a linker may have laid another name over the tail of s.
func shared(f *elf.File, s string) bool {
	libs, _ := f.ImportedLibraries()
	for _, l := range libs {
		if strings.HasSuffix(s, l) {
			return true
		}
	}
	symbols, _ := f.DynamicSymbols()
	for _, sym := range symbols {
		if sym.Name != "" && strings.HasSuffix(s, sym.Name) {
			return true
		}
	}
	return false
}

// Libraries are the shared libraries that a toolchain needs and does not bring:
// sonames, sorted. A bare base image must have them (facts: environments, table 2).
func Libraries(dir string) ([]string, error) {
	needs, has := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		has[d.Name()] = true
		if !d.Type().IsRegular() || !isELF(path) {
			return nil
		}
		f, err := elf.Open(path)
		if err != nil {
			return nil // test data of a compiler may be broken on purpose
		}
		defer f.Close()
		if f.Class != elf.ELFCLASS64 && f.Class != elf.ELFCLASS32 || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
			return nil
		}
		libs, _ := f.ImportedLibraries()
		for _, l := range libs {
			needs[l] = true
		}
		return nil
	})
	var out []string
	for l := range needs {
		if !has[l] {
			out = append(out, l)
		}
	}
	sort.Strings(out)
	return out, err
}

// debian names the package of each library that CPython, uv and Go toolchains
// link, over the releases from bullseye to trixie.
var debian = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"libbz2.so.1.0": "libbz2-1.0", "libcrypt.so.1": "libcrypt1", "libcrypto.so.1.1": "libssl1.1",
		"libcrypto.so.3": "libssl3", "libssl.so.1.1": "libssl1.1", "libssl.so.3": "libssl3",
		"libdb-5.3.so": "libdb5.3", "libexpat.so.1": "libexpat1", "libffi.so.7": "libffi7", "libffi.so.8": "libffi8",
		"libgdbm.so.6": "libgdbm6", "libgdbm_compat.so.4": "libgdbm-compat4", "liblzma.so.5": "liblzma5",
		"libmpdec.so.3": "libmpdec3", "libncurses.so.6": "libncurses6", "libncursesw.so.6": "libncursesw6",
		"libpanel.so.6": "libncurses6", "libpanelw.so.6": "libncursesw6", "libtinfo.so.6": "libtinfo6",
		"libnsl.so.2": "libnsl2", "libtirpc.so.3": "libtirpc3", "libreadline.so.8": "libreadline8",
		"libsqlite3.so.0": "libsqlite3-0", "libuuid.so.1": "libuuid1", "libz.so.1": "zlib1g", "libzstd.so.1": "libzstd1",
		"libtcl8.6.so": "libtcl8.6", "libtk8.6.so": "libtk8.6", "libX11.so.6": "libx11-6",
		"libgcc_s.so.1": "libgcc-s1", "libstdc++.so.6": "libstdc++6",
	}
})

// Packages names the Debian packages of libraries; those of libc need none.
// unknown are libraries that the table does not have.
func Packages(libraries []string) (packages, unknown []string) {
	seen := map[string]bool{}
	for _, l := range libraries {
		if strings.HasPrefix(l, "ld-linux") || libc[l] {
			continue
		}
		p, ok := debian()[l]
		switch {
		case !ok:
			unknown = append(unknown, l)
		case !seen[p]:
			seen[p] = true
			packages = append(packages, p)
		}
	}
	sort.Strings(packages)
	return packages, unknown
}

// libc are the libraries that every Debian system has by its C library.
var libc = map[string]bool{
	"libc.so.6": true, "libm.so.6": true, "libdl.so.2": true, "libpthread.so.0": true,
	"librt.so.1": true, "libutil.so.1": true, "libresolv.so.2": true, "libnsl.so.1": true,
}
