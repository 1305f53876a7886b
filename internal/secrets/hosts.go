package secrets

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// reserved are the addresses that no reader of a dataset can reach, or that belong to whoever
// reads: private, shared and link-local networks, loopback, documentation, benchmarks and what is
// routed nowhere (RFC 6890 and its registries; RFC 3849, RFC 5737, RFC 9637 for documentation).
var reserved = func() (out []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.2.0/24", "192.168.0.0/16",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/127", "fc00::/7", "fe80::/10", "2001:db8::/32", "3fff::/20",
	} {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}()

// exampleName is a name that is called example below a top-level domain: of the generic ones
// RFC 2606 keeps three for documentation, and people write the others in the same sense.
var exampleName = lazyregexp.New(`^(?:.*\.)?example(?:\.(?:com?|org|net|ac|edu|gov))?\.[a-z]{2,}$`)

// unreachable reports whether nobody outside of the network that a URL was written for can reach
// its host, so that a password beside it opens nothing:
//
//   - an address of a reserved range, in IPv4 or IPv6
//   - a name of one label (localhost, and db or redis as Compose calls its containers): such a
//     name is looked up on the machine or in its own network
//   - a name below a top-level domain that the root zone does not have, by the public suffix
//     list: test, invalid, example, localhost (RFC 6761), local (RFC 6762), internal, lan, corp
//     and others; home.arpa (RFC 8375)
//   - a name that is called example
//
// A number that is not an address is reachable: some programs read one as such.
func unreachable(host string) bool {
	host = strings.ToLower(strings.TrimRight(strings.Trim(host, "[]"), "._-"))
	if ip, err := netip.ParseAddr(host); err == nil {
		return slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip.Unmap().WithZone("")) })
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case host == "" || '0' <= last[0] && last[0] <= '9':
		return false
	case last == host || exampleName.MatchString(host) || strings.HasSuffix("."+host, ".home.arpa"):
		return true
	}
	_, icann := publicsuffix.PublicSuffix(last)
	return !icann
}
