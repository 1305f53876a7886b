package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPackages(t *testing.T) {
	t.Parallel()
	list := "ii \tzlib1g-dev\tlibdevel\nrc \tgone\tlibs\nii \tlibc6\tlibs\nii \tlibc6\tlibs\nii \tlinux-image-6\tkernel\nii \tfirmware\tnon-free/kernel\nun \tnever\t\nii \todd\t\n"
	if diff := cmp.Diff([]string{"libc6", "odd", "zlib1g-dev"}, packages([]byte(list))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := nameOf([]byte("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")); got != "Debian GNU/Linux 12 (bookworm)" {
		t.Errorf("name %q", got)
	}
}
