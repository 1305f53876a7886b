package bwrap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The pair inside a run. No route leads through it.
const (
	linkName = "eth0"
	peerName = "peer0"
)

var (
	linkAddress  = [4]byte{10, 66, 0, 2}
	linkAddress6 = [16]byte{0: 0xfd, 1: 0x66, 15: 2} // fd66::2: C libraries look up no IPv6 name where only ::1 is configured
)

// loopbackUp brings up lo, and with it 127.0.0.1 and ::1.
func loopbackUp() error { return linkUp("lo") }

func linkUp(name string) error {
	return withRequest(name, func(fd int, req *unix.Ifreq) error {
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
			return fmt.Errorf("flags of %s: %w", name, err)
		}
		req.SetUint16(req.Uint16() | unix.IFF_UP | unix.IFF_RUNNING)
		if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
			return fmt.Errorf("bringing up %s: %w", name, err)
		}
		return nil
	})
}

func withRequest(name string, f func(fd int, req *unix.Ifreq) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	return f(fd, req)
}

// addPair makes the configured interface that look-ups of numeric addresses need.
func addPair() error {
	if err := newVeth(linkName, peerName); err != nil {
		return fmt.Errorf("adding a veth pair: %w", err)
	}
	// Nobody else has the address: asking around would make it unusable for a second.
	// No link-local one (mode 1): every host has such an address, and none is here.
	for _, set := range []struct{ key, value string }{
		{linkName + "/disable_ipv6", "0"}, {linkName + "/accept_dad", "0"}, {linkName + "/addr_gen_mode", "1"}, {peerName + "/disable_ipv6", "1"},
	} {
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+set.key, []byte(set.value), 0) // missing where the kernel has no IPv6
	}
	err := withRequest(linkName, func(fd int, req *unix.Ifreq) error {
		if err := req.SetInet4Addr(linkAddress[:]); err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, req)
	})
	if err != nil {
		return fmt.Errorf("address of %s: %w", linkName, err)
	}
	err = withRequest(linkName, func(fd int, req *unix.Ifreq) error {
		if err := req.SetInet4Addr(net.IPv4Mask(255, 255, 255, 0)); err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, unix.SIOCSIFNETMASK, req)
	})
	if err != nil {
		return fmt.Errorf("netmask of %s: %w", linkName, err)
	}
	if err := linkUp(peerName); err != nil {
		return err
	}
	if err := linkUp(linkName); err != nil {
		return err
	}
	return addAddress6()
}

// addAddress6 gives the interface its IPv6 address; a kernel without IPv6 has none.
func addAddress6() error {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	link, err := net.InterfaceByName(linkName)
	if err != nil {
		return err
	}
	req := in6Ifreq{Addr: linkAddress6, Prefix: 64, Index: int32(link.Index)}
	if _, _, code := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFADDR, uintptr(unsafe.Pointer(&req))); code != 0 {
		return fmt.Errorf("IPv6 address of %s: %w", linkName, code)
	}
	return nil
}

// in6Ifreq is struct in6_ifreq of linux/ipv6.h.
type in6Ifreq struct {
	Addr   [16]byte
	Prefix uint32
	Index  int32
}

// vethInfoPeer is VETH_INFO_PEER of linux/veth.h.
const vethInfoPeer = 1

// newVeth speaks rtnetlink itself: one message does not justify a dependency on
// the ip command of the host.
func newVeth(name, peer string) error {
	ifinfo := make([]byte, unix.SizeofIfInfomsg)
	peerData := append(ifinfo[:len(ifinfo):len(ifinfo)], attribute(unix.IFLA_IFNAME, zero(peer))...)
	info := append(
		attribute(unix.IFLA_INFO_KIND, zero("veth")),
		attribute(unix.IFLA_INFO_DATA, attribute(vethInfoPeer, peerData))...)
	body := append(ifinfo[:len(ifinfo):len(ifinfo)], attribute(unix.IFLA_IFNAME, zero(name))...)
	body = append(body, attribute(unix.IFLA_LINKINFO, info)...)

	msg := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+len(body))
	binary.NativeEndian.PutUint32(msg[0:], uint32(cap(msg)))
	binary.NativeEndian.PutUint16(msg[4:], unix.RTM_NEWLINK)
	binary.NativeEndian.PutUint16(msg[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	return talk(append(msg, body...))
}

// talk sends one request and waits for its acknowledgement.
func talk(msg []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 || binary.NativeEndian.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return fmt.Errorf("unexpected netlink answer of %d bytes", n)
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

func zero(s string) []byte { return append([]byte(s), 0) }

// attribute is one padded rtattr.
func attribute(kind uint16, data []byte) []byte {
	size := unix.SizeofRtAttr + len(data)
	out := make([]byte, (size+3)&^3)
	binary.NativeEndian.PutUint16(out[0:], uint16(size))
	binary.NativeEndian.PutUint16(out[2:], kind)
	copy(out[unix.SizeofRtAttr:], data)
	return out
}
