package bwrap

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// The pair inside a run. No route leads through it.
const (
	linkName = "eth0"
	peerName = "peer0"
)

var linkAddress = [4]byte{10, 66, 0, 2}

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
	// IPv6 is on the loopback only, as in the other kind of sandbox.
	for _, name := range []string{linkName, peerName} {
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0)
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
	return linkUp(linkName)
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
