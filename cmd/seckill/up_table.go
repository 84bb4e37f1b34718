package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"

	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/strategies"
)

// reasons are strategies that cannot run, each with the cause.
type reasons [][2]string

func unavailable(missing func(catalog.Info) []string) (list reasons) {
	for _, i := range strategies.All() {
		if why := missing(i); why != nil {
			list = append(list, [2]string{i.Name, strings.Join(why, "; ")})
		}
	}
	return list
}

// printTable prints the backends, the services and the page's address.
func printTable(out io.Writer, l *lab.Lab, not reasons, page, token string) {
	t := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "BACKEND\tTIER\tVERSION\tADDRESS")
	for _, b := range l.Backends() {
		if b.OK {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", b.Name, b.Tier, b.Version, b.Address)
		} else {
			fmt.Fprintf(t, "%s\t-\t-\t%s\n", b.Name, b.Error)
		}
	}
	for _, s := range l.Services() {
		fmt.Fprintf(t, "%s\tprivate\tseckill %s\t%s\n", s.Name, buildVersion(), s.URL)
	}
	t.Flush()
	for _, n := range not {
		fmt.Fprintf(out, "\nNot available: %s: %s", n[0], n[1])
	}
	if not != nil {
		fmt.Fprintln(out)
	}
	printClients(out, l)
	fmt.Fprintf(out, "\nLogs: %s (until the lab is stopped)\n", l.Folder())
	if token != "" {
		page += "#token=" + url.QueryEscape(token)
	}
	fmt.Fprintf(out, "Page: %s   (Ctrl-C stops everything)\n", page)
}

// printClients says how the user's own clients connect. It shows passwords on a
// terminal only: other output may be kept as a log.
func printClients(out io.Writer, l *lab.Lab) {
	clients := l.Clients()
	if len(clients) == 0 {
		return
	}
	fmt.Fprintf(out, "\nFor clients of your own:   . %s   (addresses and passwords, for your eyes only), then:\n", l.ClientsFile())
	t := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, c := range clients {
		fmt.Fprintf(t, "  %s\t%s", c.Backend, c.Command)
		if isTerminal(out) {
			fmt.Fprintf(t, "\tpassword %s", c.Password)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
