// Command etcd is the unmodified etcd server, compiled as a dependency so that go.sum pins it.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
