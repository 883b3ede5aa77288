#!/usr/bin/env bash
# Take down the Slurm that up.sh put up:  tests/slurm/down.sh FOLDER
#
# Ends its jobs, the processes whose ids are in FOLDER, and nothing else.
set -uo pipefail
folder=$(cd "$1" && pwd) || exit 1
conf=/etc/slurm/slurm.conf

if [ "$(head -n 1 $conf 2>/dev/null)" != "# for tests, in $folder" ]; then
	echo "no Slurm of $folder is up" >&2
	exit 1
fi
if [ -n "$(squeue --noheader)" ]; then
	scancel --state=PENDING --user=root
	scancel --user=root
	for _ in $(seq 100); do
		[ -z "$(squeue --noheader)" ] && break
		sleep 0.2
	done
fi
for daemon in slurmd slurmctld munged; do
	pid=$(cat "$folder/run/$daemon.pid" 2>/dev/null) || continue
	if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = $daemon ]; then
		kill "$pid"
		for _ in $(seq 100); do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
	fi
	rm -f "$folder/run/$daemon.pid"
done
rm -f $conf
