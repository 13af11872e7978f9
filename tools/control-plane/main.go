// Command control-plane is etcd and kube-apiserver in one program: what both use is compiled and linked once. It is the
// program whose name it is called by; scripts/setup.mjs links it under both.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); {
	case strings.HasPrefix(name, "etcd"):
		etcdmain.Main(os.Args)
	case strings.HasPrefix(name, "kube-apiserver"):
		os.Exit(cli.Run(app.NewAPIServerCommand()))
	default:
		fmt.Fprintf(os.Stderr, "%s: call this program etcd or kube-apiserver\n", name)
		os.Exit(2)
	}
}
