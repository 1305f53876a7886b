package toolchain

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/command"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/sandbox"
)

// loader is the host's dynamic loader, as one program names it. Which file is meant by
// a library's name is its decision; it is asked, not imitated.
type loader struct {
	program string // "" where the program is linked statically, or to another libc
	env     []string
}

func loaderOf(exe string, env []string) (loader, error) {
	f, err := elf.Open(exe)
	if err != nil {
		return loader{}, err
	}
	defer f.Close()
	l := loader{env: env}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			name := make([]byte, p.Filesz)
			if _, err := p.ReadAt(name, 0); err != nil {
				return loader{}, err
			}
			// The others have no tracing (musl).
			if path := string(bytes.TrimRight(name, "\x00")); strings.HasPrefix(filepath.Base(path), "ld-linux") {
				l.program = path
			}
		}
	}
	return l, nil
}

var loaded = lazyregexp.New(`(?m)^\s*(\S+) => (/.*) \(0x[0-9a-f]+\)$`)

// libraries gives the host's file for each library that a file needs, itself or by
// another library. A name that the host does not have is not in it.
func (l loader) libraries(ctx context.Context, file string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, l.program, file)
	// Nothing of the file runs. Unlike --list, this goes on after one that is not found.
	cmd.Env = append(slices.Clone(l.env), "LD_TRACE_LOADED_OBJECTS=1")
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || command.Unanswered(err)) {
		return nil, fmt.Errorf("asking %s for the libraries of %s: %w", l.program, file, err)
	}
	found := map[string]string{}
	for _, m := range loaded.FindAllSubmatch(out, -1) {
		found[string(m[1])] = string(m[2])
	}
	return found, nil
}

// part is an ELF file of a copied tree and the file that it was copied from.
type part struct {
	path, origin string
	// found is what the host's loader found for the file that needs this one: the search
	// path of a program may be good for the libraries of its libraries, too.
	found map[string]string
}

// takeLibraries puts into lib of a copied tree what its ELF files need of shared
// libraries, except those that every sandbox has, and makes the tree's files look
// there, relative to themselves. origin says where a file of the tree comes from,
// oldPrefix is the place that no file may look into any more.
func takeLibraries(ctx context.Context, dir, oldPrefix string, l loader, origin func(rel string) string) error {
	parts, err := elfFiles(dir, origin)
	if err != nil {
		return err
	}
	for i := 0; i < len(parts); i++ { // it grows: libraries need libraries
		needs, err := neededBy(parts[i].path)
		if err != nil {
			return err
		}
		var inside []string
		if len(needs) > 0 && l.program != "" {
			var more []part
			if inside, more, err = copyNeeds(ctx, dir, l, parts[i], needs); err != nil {
				return err
			}
			parts = append(parts, more...)
		}
		if err := relocate(ctx, dir, oldPrefix, parts[i], l, inside); err != nil {
			return err
		}
	}
	return nil
}

// copyNeeds copies the libraries that a part needs and that not every sandbox has. inside are
// their names, and more those that were not there yet.
func copyNeeds(ctx context.Context, dir string, l loader, p part, needs []string) (inside []string, more []part, err error) {
	found, err := l.libraries(ctx, p.origin)
	if err != nil {
		return nil, nil, err
	}
	for name, path := range p.found {
		if found[name] == "" {
			found[name] = path
		}
	}
	for _, name := range needs {
		// One that the host lacks is lacking in the copy as well.
		if found[name] == "" || inEverySandbox(name, found[name]) {
			continue
		}
		inside = append(inside, name)
		target := filepath.Join(dir, "lib", name)
		if _, err := os.Stat(target); err == nil {
			continue
		}
		if err := copyFile(found[name], target); err != nil {
			return nil, nil, err
		}
		more = append(more, part{target, found[name], found})
	}
	return inside, more, nil
}

// elfFiles are the executables and shared objects of a tree.
func elfFiles(dir string, origin func(rel string) string) (parts []part, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !isELF(path) {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		parts = append(parts, part{path: path, origin: origin(rel)})
		return nil
	})
	return parts, err
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

// neededBy are the libraries that an ELF file names itself, those of libc left out.
func neededBy(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, nil // test data may be broken on purpose
	}
	defer f.Close()
	all, err := f.ImportedLibraries()
	if err != nil {
		return nil, nil // an object file
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return libc[name] || strings.HasPrefix(name, "ld-linux")
	}), nil
}

// inEverySandbox reports whether a sandbox has the library that the host's loader
// chose: one of the same name from elsewhere may be another version.
func inEverySandbox(name, path string) bool {
	system := strings.HasPrefix(path, "/lib") || strings.HasPrefix(path, "/usr/lib")
	return system && sandbox.SystemLibrary(name) != ""
}

// libc are the libraries that every system has by its C library.
var libc = map[string]bool{
	"libc.so.6": true, "libm.so.6": true, "libdl.so.2": true, "libpthread.so.0": true,
	"librt.so.1": true, "libutil.so.1": true, "libresolv.so.2": true, "libnsl.so.1": true,
}

// relocate makes one file look for the libraries inside its tree, and nowhere in the
// old place.
func relocate(ctx context.Context, dir, oldPrefix string, p part, l loader, inside []string) error {
	up, err := filepath.Rel(filepath.Dir(p.path), filepath.Join(dir, "lib"))
	if err != nil {
		return err
	}
	want := strings.TrimSuffix("$ORIGIN/"+up, "/.")
	old, err := runPath(p.path)
	if err != nil {
		return nil // no file of a loader's: test data, object files
	}
	leads := oldPrefix != "/usr" && strings.Contains(old, oldPrefix)
	here := len(inside) == 0 || slices.Contains(strings.Split(old, ":"), want)
	if here && !leads {
		return nil
	}
	if err := setRunPath(p.path, want); err != nil {
		return fmt.Errorf("search path of %s: %w", filepath.Base(p.path), err)
	}
	if len(inside) == 0 {
		return nil
	}
	// The loader has the last word on what was written there.
	found, err := l.libraries(ctx, p.path)
	if err != nil {
		return err
	}
	for _, name := range inside {
		if filepath.Clean(found[name]) != filepath.Join(dir, "lib", name) {
			return fmt.Errorf("%s of the copy finds %s at %q, not in the copy", filepath.Base(p.path), name, found[name])
		}
	}
	return nil
}

// runPath is the search path of an ELF file, "" for none.
func runPath(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		if paths, err := f.DynString(tag); err != nil || len(paths) > 0 {
			return strings.Join(paths, ":"), err
		}
	}
	return "", nil
}

// setRunPath gives an ELF file a search path: where one stands, over it if there is
// room and no other name shares its bytes, else by a table of names of its own.
func setRunPath(path, want string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if !overwriteRunPath(f, data, want) {
		if data, err = growRunPath(f, data, want); err != nil {
			return err
		}
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

func overwriteRunPath(f *elf.File, data []byte, want string) (done bool) {
	table := f.Section(".dynstr")
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		offsets, err := f.DynValue(tag)
		if err != nil || table == nil || len(offsets) == 0 {
			continue
		}
		at := table.Offset + offsets[0]
		end := at + uint64(max(0, bytes.IndexByte(data[at:], 0)))
		old := string(data[at:end])
		if len(want) > len(old) || shared(f, old) {
			return false
		}
		copy(data[at:end], want+strings.Repeat("\x00", len(old)-len(want)))
		done = true
	}
	return done
}

// shared reports whether a linker may have laid another name over the tail of s.
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

// Sizes and offsets of 64-bit ELF, from the specification (System V ABI, chapters 4 and 5).
const (
	progSize, dynSize = 56, 16
	progTable         = 32 // in the header: where the program headers begin
	sectTable         = 40 // in the header: where the section headers begin
	sectSize          = 64
)

// growRunPath moves the table of names to the end of the file, with the search path
// behind it, and has it loaded by the program header of a note, which no loader reads.
// Linkers leave a few empty entries in the dynamic section for such a change.
func growRunPath(f *elf.File, data []byte, want string) ([]byte, error) {
	dynamic, names := f.Section(".dynamic"), f.Section(".dynstr")
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || dynamic == nil || names == nil {
		return nil, errors.New("not an ELF file of 64 bits, little endian, with a dynamic section")
	}
	table, err := names.Data()
	if err != nil {
		return nil, err
	}
	note, align, end := -1, uint64(0x1000), uint64(0)
	for i, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			// Loadable segments stand in the order of their addresses, and the new one is the last.
			note, align, end = -1, max(align, p.Align), max(end, p.Vaddr+p.Memsz)
		case elf.PT_NOTE:
			note = i // the last: the first may be the property note, which the kernel reads
		}
	}
	if note < 0 {
		return nil, errors.New("no room for another segment")
	}
	up := func(n uint64) uint64 { return (n + align - 1) / align * align }
	offset, addr := up(uint64(len(data))), up(end)
	moved := append(append(slices.Clone(table), want...), 0)
	grown := append(slices.Grow(slices.Clone(data), int(offset)-len(data)+len(moved)), make([]byte, int(offset)-len(data))...)
	grown = append(grown, moved...)

	le := binary.LittleEndian
	entries := grown[dynamic.Offset : dynamic.Offset+dynamic.FileSize]
	if err := setDynamic(entries, map[elf.DynTag]uint64{
		elf.DT_STRTAB: addr, elf.DT_STRSZ: uint64(len(moved)), elf.DT_RUNPATH: uint64(len(table)),
	}); err != nil {
		return nil, err
	}
	size := uint64(len(moved))
	head := grown[le.Uint64(grown[progTable:])+uint64(note)*progSize:]
	le.PutUint32(head, uint32(elf.PT_LOAD))
	le.PutUint32(head[4:], uint32(elf.PF_R))
	for i, v := range []uint64{offset, addr, addr, size, size, align} {
		le.PutUint64(head[8+8*i:], v)
	}
	// The section headers say the same, for whoever reads those.
	section := grown[le.Uint64(grown[sectTable:])+uint64(slices.Index(f.Sections, names))*sectSize:]
	le.PutUint64(section[16:], addr)
	le.PutUint64(section[24:], offset)
	le.PutUint64(section[32:], size)
	return grown, nil
}

// setDynamic changes entries, and adds the search path where there is none.
func setDynamic(entries []byte, values map[elf.DynTag]uint64) error {
	le := binary.LittleEndian
	has := false
	for ; len(entries) >= 2*dynSize; entries = entries[dynSize:] {
		tag := elf.DynTag(le.Uint64(entries))
		if tag == elf.DT_NULL && !has {
			tag, has = elf.DT_RUNPATH, true
			le.PutUint64(entries, uint64(tag))
			le.PutUint64(entries[8:], values[tag])
		}
		if tag == elf.DT_NULL {
			break
		}
		if tag == elf.DT_RPATH || tag == elf.DT_RUNPATH { // an old file may have either, or both
			tag, has = elf.DT_RUNPATH, true
		}
		if v, ok := values[tag]; ok {
			le.PutUint64(entries[8:], v)
		}
	}
	if !has {
		return errors.New("no room in the dynamic section")
	}
	return nil
}
