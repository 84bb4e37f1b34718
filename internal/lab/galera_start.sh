# Start a node of a Galera cluster where its own data ends, so that it gets from
# the others what it has missed. If that cannot be read from its data, it gets all
# again.
#
#   $1     the server
#   $2 …   its arguments
data=
for argument in "$@"; do
  case $argument in --datadir=*) data=${argument#*=} ;; esac
done
position=
if [ -e "$data/ibdata1" ]; then
  # Without its port: a server that only looks there does not answer clients.
  position=$(timeout -s KILL 10 "$@" --wsrep-recover --skip-networking 2>&1 | sed -n 's/.*Recovered position: *//p' | tail -n 1)
fi
exec "$@" ${position:+"--wsrep-start-position=$position"}
