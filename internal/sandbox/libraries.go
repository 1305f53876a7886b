package sandbox

// systemLibraries are the shared libraries, beside those of libc, that the system of
// every sandbox has: bwrap shows the host's, and Docker's base installs the package.
var systemLibraries = map[string]string{
	"libbz2.so.1.0":       "libbz2-1.0",
	"libcrypt.so.1":       "libcrypt1",
	"libcrypto.so.3":      "libssl3",
	"libexpat.so.1":       "libexpat1",
	"libffi.so.8":         "libffi8",
	"libgcc_s.so.1":       "libgcc-s1",
	"libgdbm.so.6":        "libgdbm6",
	"libgdbm_compat.so.4": "libgdbm-compat4",
	"liblzma.so.5":        "liblzma5",
	"libncursesw.so.6":    "libncursesw6",
	"libpanelw.so.6":      "libncursesw6",
	"libreadline.so.8":    "libreadline8",
	"libsqlite3.so.0":     "libsqlite3-0",
	"libssl.so.3":         "libssl3",
	"libstdc++.so.6":      "libstdc++6",
	"libtinfo.so.6":       "libtinfo6",
	"libuuid.so.1":        "libuuid1",
	"libz.so.1":           "zlib1g",
}

// SystemLibrary is the Debian package that brings a shared library, named by its
// soname, to the system of every sandbox; "" where a toolchain that needs the
// library has to bring it along.
func SystemLibrary(soname string) string { return systemLibraries[soname] }
