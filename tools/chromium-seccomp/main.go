// Prints the seccomp profile of browser pods: containerd's default for a container without capabilities, plus what Chromium's
// own sandbox needs. Run it by hand when containerd's default has changed:
//
//	go run . > ../../charts/browserpool/files/seccomp/chromium.json
//
// Chromium's sources show what it needs: the browser process starts the zygote by clone() in new user, PID and network
// namespaces (sandbox/linux/services/namespace_sandbox.cc), moves into a new user namespace by unshare(), and gives up the
// file system by chroot() into an empty directory (sandbox/linux/services/credentials.cc). Chromium needs no mounts, no
// setns() and no other namespaces, so these stay refused, also inside such a user namespace, where the kernel would allow
// them.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/containerd/containerd/v2/contrib/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// Namespaces that stay refused: mount, cgroup, UTS and IPC (linux/sched.h). The default also refuses user, PID and network
// namespaces.
const refusedNamespaces = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000

// Calls of arm64 that containerd allows only when it is built for arm64; other processors don't have them.
var arm64 = specs.LinuxSyscall{
	Names:  []string{"arm_fadvise64_64", "arm_sync_file_range", "sync_file_range2", "breakpoint", "cacheflush", "set_tls"},
	Action: specs.ActAllow,
}

var withoutOtherNamespaces = []specs.LinuxSeccompArg{{Index: 0, Value: refusedNamespaces, Op: specs.OpMaskedEqual}}

func main() {
	profile := seccomp.DefaultProfile(&specs.Spec{
		Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{}},
	})
	profile.Architectures = []specs.Arch{
		specs.ArchX86_64, specs.ArchX86, specs.ArchX32, specs.ArchAARCH64, specs.ArchARM,
	}
	var kept []specs.LinuxSyscall
	for _, rule := range profile.Syscalls {
		// The default's clone() rule refuses all new namespaces; the rule below replaces it. clone3() stays unknown (ENOSYS), so
		// that the C library calls clone(), whose flags a filter can check.
		if len(rule.Names) == 1 && rule.Names[0] == "clone" {
			continue
		}
		kept = append(kept, rule)
	}
	profile.Syscalls = append(kept,
		arm64,
		specs.LinuxSyscall{Names: []string{"clone", "unshare"}, Action: specs.ActAllow, Args: withoutOtherNamespaces},
		specs.LinuxSyscall{Names: []string{"chroot"}, Action: specs.ActAllow},
	)
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(profile); err != nil {
		log.Fatal(err)
	}
}
