# Reads the folder of the lab that started it, and which processes of the lab begin and
# end. At the end of its input, which is that of the lab's program, it kills those that
# are left, and removes the folder.
trap '' HUP INT QUIT TERM
read -r folder
left=' '
while read -r what pid; do
	case $what in
	began) left="$left$pid " ;;
	ended) left="${left%% $pid *} ${left#* $pid }" ;;
	esac
done
for pid in $left; do kill -9 "$pid"; done
for _ in 1 2 3 4 5; do
	rm -rf "$folder" && break
	sleep 1
done
