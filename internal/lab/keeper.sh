# Waits for the end of the lab that started it and tells it which processes begin and
# end. Then it kills those that are left, and removes the lab's folder, $1.
trap '' HUP INT QUIT TERM
left=' '
while read -r what pid; do
	case $what in
	began) left="$left$pid " ;;
	ended) left="${left%% $pid *} ${left#* $pid }" ;;
	esac
done
for pid in $left; do kill -9 "$pid"; done
for _ in 1 2 3 4 5; do
	rm -rf "$1" && break
	sleep 1
done
