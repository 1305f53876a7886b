# Starts a service and asks it what its standard input says.
#
#   relay.pl SECONDS BYTES COMMAND [ARGUMENT...]
#
# A request is a line "PORT BYTES", and then those bytes, as they are sent to that port. An answer
# is a line "WORD STATE SINCE WAITED PORTS BYTES", and then those bytes, as they came. WORD is ok,
# refused, reset, timeout or large. STATE is "up" or the exit status of the service. SINCE is how
# many milliseconds ago it began, and WAITED how many of them a thread of it has waited for a
# processor; PORTS are those that something in the sandbox listens on, with commas between them,
# or "-". Both are asked where WORD is not ok. What the service prints goes to standard error.
#
# The line "look FILE" asks for what was written to a file since the last time, up to BYTES; the answer's WORD is ok.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes;

my ($seconds, $most, @service) = @ARGV;
open(my $out, '>&', \*STDOUT) or die "standard output: $!";
binmode $out;
binmode STDIN;
$| = 1;
select($out);
$| = 1;
select(STDOUT);

my $began = Time::HiRes::time();
my $pid = fork;
die "fork: $!" unless defined $pid;
if (!$pid) {
    open(STDIN, '<', '/dev/null');
    open(STDOUT, '>&', \*STDERR);
    { no warnings; exec { $service[0] } @service; }
    print STDERR "cannot run $service[0]: $!\n";
    exit 127;
}
$SIG{PIPE} = 'IGNORE';
print $out "ready\n";

my ($state, $waited, $seen, %delays) = ('up', 0, 0);
while (defined(my $line = <STDIN>)) {
    if ($line =~ /^look (.+)$/) {
        my $data = told($1);
        look();
        print $out "ok $state 0 0 - " . length($data) . "\n" . $data;
        next;
    }
    my ($port, $length) = $line =~ /^(\d+) (\d+)$/ or die "not a request: $line";
    my $request = '';
    (read(STDIN, $request, $length) // -1) == $length or last;
    my ($word, $data) = ask($port, $request);
    look();
    if ($word ne 'ok' && $state eq 'up') {    # one that ends does not answer first
        select(undef, undef, undef, 0.02);
        look();
    }
    my $delay = $word eq 'ok' ? 0 : waited();
    my $since = int(1000 * (Time::HiRes::time() - $began));
    my $ports = $word eq 'ok' ? '-' : listened();
    print $out "$word $state $since $delay $ports " . length($data) . "\n" . $data;
}
kill 'KILL', $pid;

sub look {
    $state = $? & 127 ? 'signal-' . ($? & 127) : $? >> 8 if $state eq 'up' && waitpid($pid, 1) == $pid;
}

# told is what was written to a file since the last time.
sub told {
    my ($file) = @_;
    my $data = '';
    if (-f $file && open(my $in, '<', $file)) {
        binmode $in;
        seek($in, $seen, 0);
        $seen += read($in, $data, $most) // 0;
    }
    return $data;
}

# waited adds up how long the threads of the service have waited for a processor: from one look to
# the next, of those that are there the one that waited most. A system that does not count it says
# nothing.
sub waited {
    my ($most, %next) = (0);
    for my $file (glob '/proc/[0-9]*/task/*/schedstat') {
        next if $file =~ m{^/proc/$$/};
        open(my $in, '<', $file) or next;
        my (undef, $delay) = split ' ', <$in> // '';
        next unless defined $delay;
        $next{$file} = $delay;
        my $more = ($delay - ($delays{$file} // 0)) / 1e9;
        $most = $more if $more > $most;
    }
    %delays = %next;
    my $since = Time::HiRes::time() - $began;
    $waited = $waited + $most < $since ? $waited + $most : $since;
    return int(1000 * $waited);
}

# listened are the ports that something listens on, as the system has them.
sub listened {
    my %ports;
    for my $file ('/proc/net/tcp', '/proc/net/tcp6') {
        open(my $in, '<', $file) or next;
        while (<$in>) {
            $ports{hex $1} = 1 if /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /;
        }
    }
    return join(',', sort { $a <=> $b } keys %ports) || '-';
}

sub ask {
    my ($port, $request) = @_;
    my ($word, $data) = ('ok', '');
    eval {
        local $SIG{ALRM} = sub { $word = 'timeout'; die "timeout\n" };
        alarm $seconds;
        my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'tcp');
        if (!$s) {
            $word = 'refused';
            die "refused\n";
        }
        my $sent = 0;
        while ($sent < length $request) {
            my $n = syswrite($s, $request, length($request) - $sent, $sent);
            last unless defined $n;    # it may have answered before it read all
            $sent += $n;
        }
        while (1) {
            my $n = sysread($s, $data, 65536, length $data);
            if (!defined $n) {
                $word = 'reset';
                last;
            }
            last if !$n;
            if (length $data > $most) {
                $word = 'large';
                last;
            }
        }
        alarm 0;
    };
    alarm 0;
    return ($word, $data);
}
