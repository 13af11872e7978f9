# Minds one process of a session's holder: starts it, on a terminal if that is asked for, passes signals and sizes on,
# and says how it ended. It is what a process has for an init; with its end all that the process has started ends.
#
#   descriptor 3: orders. The first is "start TTY COLS ROWS ARGS BYTES\n" and so many bytes: the folder, the program
#                 with its arguments (ARGS in all), and variables as NAME=VALUE, each with a NUL after it. Then
#                 "signal TERM\n" and "resize COLS ROWS\n". When it is closed, the agent is gone.
#   descriptor 4: reports: "started PID\n" or "refused cwd|program MESSAGE\n", "lacks WHAT\n", and "exit CODE\n".
#
# In a pod its arguments name what it may reach, since there are no namespaces of files: `--read PATH`, `--write PATH`,
# and `--files FOLDER`, of which it may reach all entries but those that begin with a dot, as the agent's own do. Perl is
# all that each Debian has to make the calls for that.
use strict;
use warnings;
use Fcntl;
use POSIX ();

open(my $orders, '<&=', 3) or die "no orders: $!";
open(my $reports, '>&=', 4) or die "no reports: $!";
# These, and whatever a program on the way has left open, end with the first program that is started: close_range.
syscall(436, 3, 0xFFFFFFFF, 4) == 0 or die "descriptors stay open: $!";

sub report {
    my $line = "@_\n";
    syswrite($reports, $line);
}

sub lacks {
    report('lacks', @_);
    POSIX::_exit(3);
}

# Landlock: its calls have the same numbers on all processors. Rights of a file are a part of those of a folder.
my ($execute, $write_file, $read_file, $read_dir, $truncate) = (1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14);
my $all = (1 << 15) - 1;
my $of_file = $execute | $write_file | $read_file | $truncate;
my $to_read = $execute | $read_file | $read_dir;
my $path_only = 010000000;

sub allow {
    my ($rules, $path, $rights) = @_;
    sysopen(my $place, $path, $path_only | O_NOFOLLOW) or return;
    # A link is none of these.
    return unless -d $place || -f _ || -c _;
    $rights &= $of_file unless -d _;
    my $rule = pack('Q l', $rights, fileno $place);
    syscall(445, fileno $rules, 1, $rule, 0) == 0 or lacks("landlock: $!");
}

sub restrict_files {
    my (%asked) = @_;
    my $abi = syscall(444, 0, 0, 1);
    # The third one can keep a file from being cut to nothing.
    lacks('landlock') if $abi < 3;
    my $handled = pack('Q', $all);
    my $fd = syscall(444, $handled, 8, 0);
    lacks("landlock: $!") if $fd < 0;
    open(my $rules, '<&=', $fd) or lacks("landlock: $!");
    allow($rules, $_, $to_read) for @{ $asked{read} };
    allow($rules, $_, $all) for @{ $asked{write} };
    for my $folder (@{ $asked{files} }) {
        opendir(my $entries, $folder) or lacks("files: $!");
        my @names = grep { !/^\./ } readdir $entries;
        lacks('room: too many entries in the folder') if @names > 4096;
        allow($rules, "$folder/$_", $all) for @names;
    }
    syscall(446, $fd, 0) == 0 or lacks("landlock: $!");
}

# Landlock says nothing of the rights and owners of files, nor of sockets that have a path: the agent's are those of this
# user, too. So calls that change these by a path, and new sockets of this kind, are refused.
my %processors = (
    x86_64  => { arch => 0xC000003E, socket => 41, calls => [ 90, 268, 92, 94, 260, 188, 189 ] },
    aarch64 => { arch => 0xC00000B7, socket => 198, calls => [ 53, 54, 5, 6 ] },
);

sub restrict_calls {
    my $machine = (POSIX::uname())[4];
    my $own = $processors{$machine} or lacks("calls of $machine");
    # fchmodat2, setxattrat and io_uring_setup have one number everywhere.
    my @refused = (@{ $own->{calls} }, 452, 463, 425);
    my ($load, $equal, $above, $return) = (0x20, 0x15, 0x35, 0x06);
    my ($allow, $refuse) = (0x7fff0000, 0x00050001);
    my @program = ([ $load, 0, 0, 4 ], [ $equal, 1, 0, $own->{arch} ], [ $return, 0, 0, $refuse ], [ $load, 0, 0, 0 ]);
    # Numbers of another way to call a kernel of x86_64.
    push @program, [ $above, 0, 1, 0x40000000 ], [ $return, 0, 0, $refuse ];
    push @program, [ $equal, 0, 1, $_ ], [ $return, 0, 0, $refuse ] for @refused;
    push @program, [ $equal, 0, 3, $own->{socket} ], [ $load, 0, 0, 16 ], [ $equal, 0, 1, 1 ];
    push @program, [ $return, 0, 0, $refuse ], [ $return, 0, 0, $allow ];
    my $filter = join '', map { pack('S C C L', @$_) } @program;
    my $header = pack('S x6 P', scalar @program, $filter);
    my $prctl = $machine eq 'x86_64' ? 157 : 167;
    syscall($prctl, 22, 2, $header, 0, 0) == 0 or lacks("seccomp: $!");
}

sub read_start {
    my $line = '';
    while (sysread($orders, my $char, 1)) {
        last if $char eq "\n";
        $line .= $char;
    }
    my ($tty, $cols, $rows, $args, $bytes) = $line =~ /^start (\d) (\d+) (\d+) (\d+) (\d+)$/ or exit 1;
    my $text = '';
    while (length $text < $bytes) {
        sysread($orders, $text, $bytes - length $text, length $text) or exit 1;
    }
    my ($cwd, @rest) = split /\0/, $text, -1;
    pop @rest;
    my @command = splice @rest, 0, $args;
    my %env = map { split /=/, $_, 2 } @rest;
    return { tty => $tty, cols => $cols, rows => $rows, cwd => $cwd, command => \@command, env => \%env };
}

# Copies until one side is gone, in a process of its own: so that nobody who does not read makes another one wait.
sub relay {
    my ($from, $to, @closed) = @_;
    my $pid = fork // die "no process: $!";
    return $pid if $pid;
    close $_ for @closed, $orders, $reports;
    $SIG{PIPE} = 'DEFAULT';
    while (sysread($from, my $bytes, 65536)) {
        for (my $sent = 0; $sent < length $bytes;) {
            $sent += syswrite($to, $bytes, length($bytes) - $sent, $sent) // POSIX::_exit(0);
        }
    }
    POSIX::_exit(0);
}

sub set_size {
    my ($terminal, $cols, $rows) = @_;
    my $size = pack('S4', $rows, $cols, 0, 0);
    ioctl($terminal, 0x5414, $size);
}

# The terminal and its other side.
sub open_terminal {
    my ($cols, $rows) = @_;
    sysopen(my $terminal, '/dev/ptmx', O_RDWR | O_NOCTTY) or lacks("terminal: $!");
    my $unlocked = pack('i', 0);
    ioctl($terminal, 0x40045431, $unlocked) or lacks("terminal: $!");
    set_size($terminal, $cols, $rows);
    my $fd = ioctl($terminal, 0x5441, O_RDWR | O_NOCTTY) or lacks("terminal: $!");
    open(my $side, '+<&=', int $fd) or lacks("terminal: $!");
    return ($terminal, $side);
}

# In the new process. Says on `$failed` why it is none.
sub become {
    my ($start, $failed, @standard) = @_;
    POSIX::setsid();
    if ($start->{tty}) { ioctl($standard[0], 0x540E, 0) }
    for my $fd (0 .. 2) { POSIX::dup2(fileno $standard[$fd], $fd) }
    $SIG{$_} = 'DEFAULT' for qw(CHLD PIPE);
    my ($what, $message) = ('cwd', '');
    if (chdir $start->{cwd}) {
        %ENV = %{ $start->{env} };
        no warnings 'exec';
        exec { $start->{command}[0] } @{ $start->{command} };
        $what = 'program';
    }
    syswrite($failed, "$what $!");
    POSIX::_exit(127);
}

my %asked = (read => [], write => [], files => []);
while (@ARGV) {
    my ($option, $value) = splice @ARGV, 0, 2;
    push @{ $asked{ substr $option, 2 } }, $value;
}
my $is_pod = @{ $asked{files} };
my $start = read_start();
my ($terminal, @standard);
my @passing;
restrict_files(%asked) if $is_pod;
restrict_calls() if $is_pod;
my ($in, $out, $err) = (\*STDIN, \*STDOUT, \*STDERR);
if ($start->{tty}) {
    ($terminal, my $side) = open_terminal($start->{cols}, $start->{rows});
    @standard = ($side) x 3;
    relay($in, $terminal, $side, $out, $err);
    push @passing, relay($terminal, $out, $side, $in, $err);
} else {
    pipe(my $stdin, my $to_stdin) or die "no pipe: $!";
    pipe(my $from_stdout, my $stdout) or die "no pipe: $!";
    pipe(my $from_stderr, my $stderr) or die "no pipe: $!";
    @standard = ($stdin, $stdout, $stderr);
    relay($in, $to_stdin, @standard, $from_stdout, $from_stderr, $out, $err);
    push @passing, relay($from_stdout, $out, @standard, $to_stdin, $from_stderr, $in, $err);
    push @passing, relay($from_stderr, $err, @standard, $to_stdin, $from_stdout, $in, $out);
    close $_ for $to_stdin, $from_stdout, $from_stderr;
}
pipe(my $failure, my $failed) or die "no pipe: $!";
my $pid = fork;
if (!defined $pid) {
    report('refused', 'program', $!);
    exit 1;
}
become($start, $failed, @standard) unless $pid;
close $_ for $failed, @standard, $in;
# Closed by a program that runs.
if (sysread($failure, my $why, 500)) {
    report('refused', $why);
    exit 1;
}
report('started', $pid);
# So that an end interrupts what waits below.
$SIG{CHLD} = sub { };

sub obey {
    my ($line) = @_;
    kill("-$1", $pid) if $line =~ /^signal (TERM|KILL|INT|HUP)$/;
    set_size($terminal, $1, $2) if $terminal && $line =~ /^resize (\d+) (\d+)$/;
}

my ($unread, $code, %ended) = ('');
while (1) {
    while ((my $gone = waitpid(-1, POSIX::WNOHANG())) > 0) {
        $ended{$gone} = 1;
        $code = $? & 127 ? 128 + ($? & 127) : $? >> 8 if $gone == $pid;
    }
    last if defined $code;
    my $waiting = '';
    vec($waiting, 3, 1) = 1;
    # An end just before it is noticed after that time.
    next unless select($waiting, undef, undef, 0.2) > 0;
    sysread($orders, $unread, 4096, length $unread) or exit 1;
    obey($1) while $unread =~ s/^(.*)\n//;
}
# What it has written is on its way. What it has started may go on to write, and is not waited for.
for (1 .. 50) {
    while ((my $gone = waitpid(-1, POSIX::WNOHANG())) > 0) { $ended{$gone} = 1 }
    last unless grep { !$ended{$_} } @passing;
    select(undef, undef, undef, 0.01);
}
report('exit', $code);
