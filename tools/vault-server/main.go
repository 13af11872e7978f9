// Command vault-server is HashiCorp Vault with its key-value store and nothing else, for the tests: Vault's own core and
// HTTP handler over memory, sealed and not initialized until somebody does both over HTTP, as with every Vault.
//
//	vault-server ADDRESS CERTIFICATE KEY
//
// It prints the address that it listens on, and ends when its standard input does.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-hclog"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/command/server"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

// onlyKV is the list of the engines that this program is built with.
type onlyKV struct{}

func (onlyKV) Contains(name string, kind consts.PluginType) bool {
	return name == "kv" && kind == consts.PluginTypeSecrets
}

func (r onlyKV) Get(name string, kind consts.PluginType) (func() (any, error), bool) {
	factory := func() (any, error) { return logical.Factory(kv.Factory), nil }
	return factory, r.Contains(name, kind)
}

func (onlyKV) Keys(kind consts.PluginType) []string {
	if kind == consts.PluginTypeSecrets {
		return []string{"kv"}
	}
	return nil
}

func (r onlyKV) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, r.Contains(name, kind)
}

func newCore() (*vault.Core, error) {
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Warn})
	memory, err := inmem.NewInmem(nil, logger)
	if err != nil {
		return nil, err
	}
	return vault.NewCore(&vault.CoreConfig{
		Physical:        memory,
		LogicalBackends: map[string]logical.Factory{"kv": kv.Factory},
		BuiltinRegistry: onlyKV{},
		DisableMlock:    true,
		Logger:          logger,
		RawConfig:       &server.Config{SharedConfig: &configutil.SharedConfig{}},
	})
}

func run(address, certificate, key string) error {
	core, err := newCore()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	handler := vaulthttp.Handler.Handler(&vault.HandlerProperties{Core: core, ListenerConfig: &configutil.Listener{}})
	secure := tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}})
	return http.Serve(secure, handler)
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: vault-server ADDRESS CERTIFICATE KEY")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}
