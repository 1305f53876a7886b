package docker

import (
	"slices"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// TestSystemLibraries: a toolchain leaves behind what the base is said to have, so the
// base has to install it.
func TestSystemLibraries(t *testing.T) {
	t.Parallel()
	// In every Debian with a C++ compiler, by the dependencies of packages that cannot be left out.
	implied := []string{"libcrypt1", "libgcc-s1", "libstdc++6", "libtinfo6"}
	for _, soname := range []string{"libz.so.1", "libssl.so.3", "libcrypto.so.3", "libsqlite3.so.0", "libffi.so.8", "libbz2.so.1.0",
		"libexpat.so.1", "liblzma.so.5", "libncursesw.so.6", "libpanelw.so.6", "libreadline.so.8", "libuuid.so.1", "libgdbm.so.6",
		"libgdbm_compat.so.4", "libcrypt.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libtinfo.so.6"} {
		p := sandbox.SystemLibrary(soname)
		if !slices.Contains(basePackages, p) && !slices.Contains(implied, p) {
			t.Errorf("%s is said to be in every sandbox by package %q, which the base does not install", soname, p)
		}
	}
}
