package bwrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// etcFiles is the /etc of a sandbox: what programs need to know users, names and
// zones. No name server is in it: names other than these fail at once.
var etcFiles = map[string]string{
	"passwd": fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\ntester:x:%d:%d:tester:%s:/bin/bash\n"+
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n", sandbox.UID, sandbox.GID, sandbox.HomePath),
	"group": fmt.Sprintf("root:x:0:\ntty:x:5:\ntester:x:%d:\nnogroup:x:65534:\n", sandbox.GID),
	"hosts": "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n",
	"nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\n" +
		"protocols: files\nservices: files\nethers: files\nrpc: files\n",
	"resolv.conf": "# No names are resolved in here.\n",
	"host.conf":   "multi on\n",
	"hostname":    "sandbox\n",
	"timezone":    "Etc/UTC\n",
	"shells":      "/bin/sh\n/bin/bash\n",
}

// etcOfHost are files and directories that belong to the host's programs and name
// nobody and nothing of the machine.
var etcOfHost = []string{
	"alternatives", "debian_version", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
	"locale.alias", "magic", "magic.mime", "mime.types", "networks", "os-release", "perl", "protocols", "rpc",
	"services", "terminfo", "ssl/openssl.cnf",
}

// publicAuthorities are the authorities that the distribution ships: what the
// machine's owner added is of the machine, and not in there.
const publicAuthorities = "/usr/share/ca-certificates/mozilla/*.crt"

// makeEtc builds the directory once for its content and gives its path.
func makeEtc(dir, host string) (string, error) {
	st := store{dir: dir}
	if err := os.MkdirAll(st.runs(), 0o700); err != nil {
		return "", err
	}
	made, err := st.scratch("etc-")
	if err != nil {
		return "", err
	}
	defer made.close()
	tmp := filepath.Join(made.dir, "etc")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return "", err
	}
	if err := fillEtc(tmp, host); err != nil {
		return "", fmt.Errorf("making the sandbox's /etc: %w", err)
	}
	digest, err := digestTree(tmp)
	if err != nil {
		return "", err
	}
	etc := filepath.Join(dir, "etc-"+digest.Short())
	if err := os.Rename(tmp, etc); err != nil {
		if _, there := os.Stat(etc); there != nil {
			return "", err
		}
	}
	return etc, nil
}

func fillEtc(tmp, host string) error {
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	for name, content := range etcFiles {
		if err := os.WriteFile(filepath.Join(tmp, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	if err := os.Symlink("/usr/share/zoneinfo/Etc/UTC", filepath.Join(tmp, "localtime")); err != nil {
		return err
	}
	java, err := filepath.Glob(filepath.Join(host, "java-*")) // half of a JDK, by its version
	if err != nil {
		return err
	}
	names := slices.Clone(etcOfHost)
	for _, dir := range java {
		names = append(names, filepath.Base(dir))
	}
	for _, name := range names {
		if err := copyPublic(filepath.Join(host, name), filepath.Join(tmp, name)); err != nil {
			return err
		}
	}
	return writeAuthorities(filepath.Join(tmp, "ssl/certs"))
}

// hostsWith makes the file of names in which some more lead to loopback, once for its content, and gives its path.
func (s *Sandbox) hostsWith(names []string) (string, error) {
	content := etcFiles["hosts"]
	for _, name := range names {
		content += "127.0.0.1 " + name + "\n"
	}
	file := filepath.Join(s.store.dir, "hosts-"+schemas.DigestBytes([]byte(content)).Short())
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	made, err := s.store.scratch("hosts-")
	if err != nil {
		return "", err
	}
	defer made.close()
	tmp := filepath.Join(made.dir, "hosts")
	if err := os.WriteFile(tmp, []byte(content), 0o644); err != nil {
		return "", err
	}
	return file, os.Rename(tmp, file)
}

// copyPublic copies what everybody may read; the rest is none of a test's business.
func copyPublic(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil || (d.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o004 == 0) {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case d.Type().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(target, b, 0o644)
		}
		return nil
	})
}

func writeAuthorities(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := filepath.Glob(publicAuthorities)
	if err != nil || len(files) == 0 {
		return err
	}
	slices.Sort(files)
	var bundle []byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		bundle = append(bundle, b...)
	}
	return os.WriteFile(filepath.Join(dir, "ca-certificates.crt"), bundle, 0o644)
}

// digestTree names a small tree of ours by its paths, links and content.
func digestTree(dir string) (schemas.Digest, error) {
	var all strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		content, err := os.ReadFile(p)
		if d.Type()&fs.ModeSymlink != 0 {
			var link string
			link, err = os.Readlink(p)
			content = []byte(link)
		}
		if err != nil && !d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		fmt.Fprintf(&all, "%s %s %s\n", rel, d.Type(), schemas.DigestBytes(content))
		return err
	})
	return schemas.DigestBytes([]byte(all.String())), errors.Join(err)
}
