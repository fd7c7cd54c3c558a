#!/usr/bin/env bash
# A Slurm cluster on this machine, for a test: several slurmd under names of their own, no rights needed but those of
# whoever runs it.
#   slurm_cluster.sh start FOLDER NODE...   its files go to the folder; SLURM_CONF is then FOLDER/slurm.conf
#   slurm_cluster.sh stop FOLDER
set -euo pipefail
export PATH=$PATH:/usr/sbin

# free_ports N : ports that nobody listens to, below those that the system gives out by itself.
free_ports() {
    local wanted=$1 port=$((20000 + RANDOM % 10000))
    while ((wanted > 0)); do
        if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            wanted=$((wanted - 1))
        fi
        port=$((port + 1))
    done
}

write_configuration() {
    local folder=$1 host user ports
    shift
    host=$(hostname -s)
    user=$(id -un)
    mapfile -t ports < <(free_ports $(($# + 1)))
    cat <<TEXT
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.sock,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=5
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
TEXT
    local number=0 node
    for node in "$@"; do
        number=$((number + 1))
        echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[number]} CPUs=2 RealMemory=500 State=UNKNOWN"
    done
    echo 'PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP'
}

start() {
    local folder=$1 node
    shift
    mkdir -p "$folder/state" "$folder/log"
    (umask 077 && head -c 64 /dev/urandom >"$folder/munge.key")
    # Its folder may be one that everybody can write to: --force says that this is meant.
    munged --force --socket="$folder/munge.sock" --key-file="$folder/munge.key" --pid-file="$folder/munge.pid" \
        --log-file="$folder/log/munge.log" --seed-file="$folder/munge.seed" 2>/dev/null
    write_configuration "$folder" "$@" >"$folder/slurm.conf"
    export SLURM_CONF=$folder/slurm.conf
    slurmctld -c
    for node in "$@"; do slurmd -c -N "$node"; done
    for _ in $(seq 100); do
        if [[ $(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | wc -l) == "$#" ]]; then return; fi
        sleep 0.2
    done
    tail -n 20 "$folder"/log/*.log >&2
    return 1
}

stop() {
    local file
    for file in "$1"/*.pid; do
        if [[ -e $file ]]; then kill "$(<"$file")" 2>/dev/null || true; fi
    done
}

case ${1:-} in
    start | stop) "$@" ;;
    *)
        echo "usage: slurm_cluster.sh start FOLDER NODE... | stop FOLDER" >&2
        exit 2
        ;;
esac
