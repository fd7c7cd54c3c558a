# What each task of the array does. The variables above are all that differs from fleet to fleet.
# shellcheck shell=bash disable=SC2154
set -u -o pipefail

shard=$SLURM_ARRAY_TASK_ID
job=${SLURM_ARRAY_JOB_ID}_$shard
restarts=${SLURM_RESTART_COUNT:-0}
run=$job.$restarts # this start of this task, and no other
node=$SLURMD_NODENAME
local=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/joulecast-$(id -u)-$(cksum <<<"$fleet" | cut -d ' ' -f 1)-$node
name=$(printf 'shard-%05d' "$shard")
card=$node
profile=
stopped=no

# note EVENT [TEXT] : a line of the journal that joulecast fleet status reads; one write, so lines stay whole.
note() {
    printf '%s %s job=%s node=%s restart=%s card=%s : %s\n' "$(date -u +%FT%TZ)" "$1" "$job" "$node" "$restarts" \
        "$card" "${2:-}" | tee -a "$fleet/shards/$name.journal"
}

# Slurm warns before the time is up and before it preempts: the measurement in progress is finished, then no other.
stop() {
    stopped=yes
    if [[ -n $profile ]]; then kill -TERM "$profile" 2>/dev/null; fi
}
trap stop TERM

# The card by a name that no other card has: the node's, and on NVIDIA cards the driver's.
name_card() {
    local visible index uuid=
    if [[ $device == cuda* ]]; then
        IFS=, read -r -a visible <<<"${CUDA_VISIBLE_DEVICES:-}"
        index=${device#cuda}
        index=${index#:}
        uuid=${visible[${index:-0}]:-${index:-0}}
        # A slice has no other name than its own.
        if [[ $uuid != MIG-* ]]; then
            uuid=$(nvidia-smi --query-gpu=uuid --format=csv,noheader --id="$uuid" 2>/dev/null | head -n 1)
        fi
    fi
    card=$node${uuid:+/$uuid}
    card=${card//[^A-Za-z0-9._:\/@-]/-}
}

# Why energy is not this job's alone; nothing where it is: on a whole GPU, and on a node that no other job is on.
why_shared() {
    local facts
    if [[ $device == cuda* ]] && { [[ ${CUDA_VISIBLE_DEVICES:-} == MIG-* ]] || nvidia-smi -L 2>/dev/null | grep -q ' MIG '; }; then
        echo 'a MIG slice: the card meters all slices together'
    elif ! facts=$(scontrol show job --oneliner "$job"); then
        echo 'scontrol does not say whether other jobs are on this node'
    elif [[ $facts =~ gres[:/](mps|shard) ]]; then
        echo "other jobs are on this card: gres/${BASH_REMATCH[1]}"
    elif [[ $device != cuda* && $facts != *OverSubscribe=NO* ]]; then
        echo 'other jobs may be on this node: add --exclusive'
    fi
}

# Whether a task runs. Where Slurm does not answer it is taken to run.
is_alive() {
    local states
    if ! states=$(squeue --noheader --states=all --jobs="$1" --format=%T 2>&1); then
        [[ $states != *'Invalid job id'* ]]
        return
    fi
    [[ $states == *RUNNING* || $states == *SUSPENDED* || $states == *COMPLETING* ]]
}

# One task at a time measures $name, also where the array was submitted twice. The lock is a link whose target names the
# task: it is made in one step, on shared disks too. One that nobody holds any more is moved away by one task alone.
take() {
    local holder
    for _ in 1 2 3; do
        if ln -s "$run" "$lock" 2>/dev/null; then return 0; fi
        holder=$(readlink "$lock") || continue
        if [[ ${holder%.*} != "$job" ]] && is_alive "${holder%.*}"; then
            note skipped "job ${holder%.*} measures it"
            return 1
        fi
        if mv -T "$lock" "$lock-$run" 2>/dev/null; then
            [[ $(readlink "$lock-$run") == "$holder" ]] || mv -nT "$lock-$run" "$lock"
            rm -f "$lock-$run"
        fi
    done
    note failed "cannot make $lock. Is the folder writable, and the disk not full?"
    exit 1
}

release() {
    if [[ $(readlink "$lock") == "$run" ]]; then rm -f "$lock"; fi
}

# What this node still has goes on from the copy, if nobody has copied since.
is_newer_than_copy() {
    [[ -e $local/$name.db ]] || return 1
    if [[ -e $copy ]]; then cmp -s "$local/$name.copied" "$copy"; else [[ ! -e $local/$name.copied ]]; fi
}

# Brings the database to this node as far as any task has got with it. Merging reads every row, so a damaged copy shows.
fetch() {
    mkdir -m 700 "$local" 2>/dev/null
    if [[ ! -d $local || -L $local || ! -O $local || ! -w $local ]]; then
        note failed "cannot use $local on this node. Set TMPDIR to a folder of your own on its disk"
        return 1
    fi
    if is_newer_than_copy && "$joulecast" info "$local/$name.db" >/dev/null 2>&1; then return 0; fi
    rm -f "$local/$name".*
    if [[ ! -e $copy ]]; then return 0; fi
    local reason
    # Not read where it lies: SQLite would leave files beside it.
    if ! reason=$({ cp "$copy" "$local/$name.copied" &&
        "$joulecast" merge "$local/$name.copied" --into "$local/$name.db" >/dev/null; } 2>&1); then
        rm -f "$local/$name".*
        note failed "cannot go on with $copy: ${reason//$'\n'/ } Move it away to measure this shard anew"
        return 1
    fi
}

# Another database with the same rows is one file without a log; it gets its name in the shared folder when it is there
# as a whole, so a copy that was cut off is never taken. A task that was started again elsewhere holds the lock: then
# this one's rows are the older ones.
copy_back() {
    local whole=$local/$name.whole.$BASHPID part=$copy.part-$run.$BASHPID
    [[ -e $local/$name.db ]] || return 0
    [[ $(readlink "$lock") == "$run" ]] || return 1
    if "$joulecast" merge "$local/$name.db" --into "$whole" >/dev/null && cp "$whole" "$part" && sync "$part" &&
        [[ $(readlink "$lock") == "$run" ]] && mv -f "$part" "$copy"; then
        mv -f "$whole" "$local/$name.copied"
        cp "$local/$name.json" "$part" 2>/dev/null && mv -f "$part" "${copy%.db}.json"
        return 0
    fi
    rm -f "$whole"* "$part"
    return 1
}

copy_now_and_then() {
    trap - TERM
    local pause_s=5
    while true; do
        sleep "$pause_s" &
        wait $!
        copy_back
        pause_s=$copy_every_s
    done
}

# measure NAME ARGUMENT... : takes one database from where it stands to its end, and copies it back. Nothing to do is no
# failure: another task is at it.
measure() {
    local copier status
    name=$1
    shift
    copy=$fleet/shards/$name.db
    lock=$fleet/shards/$name.lock
    take || return 0
    note started
    if ! fetch; then
        release
        return 1
    fi
    rm -f "$copy".part-*
    "$joulecast" profile "$@" --db "$local/$name.db" --card "$card" --counts "$local/$name.json" &
    profile=$!
    if [[ $stopped == yes ]]; then kill -TERM "$profile"; fi
    copy_now_and_then &
    copier=$!
    wait "$profile"
    status=$?
    # A signal ends the waiting, not what is waited for.
    while kill -0 "$profile" 2>/dev/null; do
        wait "$profile"
        status=$?
    done
    profile=
    kill "$copier"
    wait "$copier" 2>/dev/null
    rm -f "$copy".part-*
    # Slurm signals every process of a task that is cancelled; what is under way has its last seconds.
    if ! (trap '' TERM && copy_back); then
        note failed "cannot copy back: the rows are in $local/$name.db on this node. Is $fleet writable, and the disk not full?"
        status=1
    elif ((status == 0)); then
        note finished
        if [[ $name == card-* ]]; then touch "$fleet/shards/$name.done"; fi
        rm -f "$local/$name".*
    elif ((status == 130 || status == 143)) || [[ $stopped == yes ]]; then
        note stopped
    else
        note failed "profile ended with status $status: see logs/$shard.log"
    fi
    release
    return "$status"
}

# Out of time or preempted, this task starts again and goes on. One that was cancelled does not: nothing tells us to stop
# then but our measurement that ends.
go_on_later() {
    if [[ $stopped == no ]]; then exit 1; fi
    if ((restarts >= most_restarts)); then
        note failed "started $restarts times again and still not done. Give it more time, or more shards"
        exit 1
    fi
    if [[ $(squeue --noheader --jobs="$job" --format=%T) == RUNNING ]]; then scontrol requeue "$job"; fi
    exit 1
}

name_card
reason=$(why_shared)
if [[ -n $reason ]]; then
    if [[ $on_shared == refuse ]]; then
        note refused "$reason. To measure without energy: joulecast fleet plan --on-shared mark"
        exit 1
    fi
    note marked "no energy: $reason"
    how+=(--meter none)
fi

cd "$work_folder" || exit 1

# The same operations once on every card show how far cards of one name lie apart.
if [[ $compare == yes ]]; then
    of_card=card-${card//[^A-Za-z0-9._-]/-}
    if [[ ! -e $fleet/shards/$of_card.done ]]; then measure "$of_card" --probe "${how[@]}"; fi
    if [[ $stopped == yes ]]; then
        name=$(printf 'shard-%05d' "$shard")
        note stopped
        go_on_later
    fi
fi

measure "$(printf 'shard-%05d' "$shard")" "${what[@]}" "${how[@]}" --shard "$shard/$shards" || go_on_later
