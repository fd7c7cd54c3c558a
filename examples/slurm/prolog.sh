#!/bin/bash
# A prolog for slurmd, which runs it as root before each job (Prolog= in slurm.conf): sets the core clock that the job asks
# for in its comment, as in: sbatch --comment=joulecast-clock=1200. The job itself needs no rights; joulecast reads the clock
# that it finds. epilog.sh gives it back.
set -u
facts=$(scontrol show job --oneliner "$SLURM_JOB_ID") || exit 0
if [[ ! $facts =~ Comment=joulecast-clock=([0-9]{2,5})( |$) ]]; then exit 0; fi
clock=${BASH_REMATCH[1]}
# The job's cards, "0,3"; without any there is no clock to set.
if [[ -z ${SLURM_JOB_GPUS:-} ]]; then exit 0; fi
# A prolog that fails drains the node: better a job that measures at the usual clock, which its rows say.
nvidia-smi --id="$SLURM_JOB_GPUS" --lock-gpu-clocks="$clock,$clock" >/dev/null ||
    logger "joulecast prolog: cannot set $clock MHz on GPU $SLURM_JOB_GPUS for job $SLURM_JOB_ID"
exit 0
