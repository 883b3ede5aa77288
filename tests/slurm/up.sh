#!/usr/bin/env bash
# Put up a Slurm of one node on loopback, for tests:  tests/slurm/up.sh FOLDER [SECONDS]
#
# As root, without systemd, cgroups or accounting; needs slurmctld, slurmd, slurm-client and munge
# of Debian. All that it writes is in FOLDER, but for what has its place: /etc/slurm/slurm.conf (the
# srun inside a job reads no other), and folders of munge. SECONDS is how long Slurm knows of a job
# that has ended (a day).
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
conf=/etc/slurm/slurm.conf
mark="# for tests, in $folder"

if [ -e $conf ] && [ "$(head -n 1 $conf)" != "$mark" ]; then
	echo "another Slurm is set up here: $conf is not that of $folder" >&2
	exit 1
fi
mkdir -p "$folder"/{state,spool,log,run} /etc/slurm

# one munge for all: that of the machine, if there is one
if ! munge --no-input 2>/dev/null | unmunge >/dev/null 2>&1; then
	install -d -o munge -g munge -m 755 /run/munge
	install -d -o munge -g munge -m 700 /var/log/munge /var/lib/munge
	runuser -u munge -- munged
	cp /run/munge/munged.pid "$folder/run"
fi

cores=$(getconf _NPROCESSORS_ONLN) # nproc would heed OMP_NUM_THREADS
memory=$(awk '/^MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
cat >$conf <<CONF
$mark
ClusterName=tests
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
# processes are found as children; a job over its memory is killed when that is seen
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
# jobs start and end within a second or so
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
MinJobAge=${2:-86400}
KillWait=5
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE OverTimeLimit=0 State=UP
CONF

for daemon in slurmctld slurmd; do
	pid=$(cat "$folder/run/$daemon.pid" 2>/dev/null || true)
	[ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || $daemon
done
for _ in $(seq 150); do
	if sinfo --noheader --format=%t 2>/dev/null | grep -qE '^(idle|mix|alloc)$'; then
		exit 0
	fi
	sleep 0.2
done
echo "Slurm does not start; see $folder/log" >&2
exit 1
