package backend

import "github.com/go-zookeeper/zk"

// Version is what a backend said of itself when it was opened.
func Version(in *Instance, name string) string { return in.versions[name] }

// Library is the library's connection.
func Library(c *ZooKeeperClient) *zk.Conn { return c.conn }
