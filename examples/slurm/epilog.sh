#!/bin/bash
# The epilog of prolog.sh (Epilog= in slurm.conf): whatever the job has asked for, its cards stand as before.
set -u
if [[ -z ${SLURM_JOB_GPUS:-} ]]; then exit 0; fi
nvidia-smi --id="$SLURM_JOB_GPUS" --reset-gpu-clocks >/dev/null ||
    logger "joulecast epilog: cannot reset the clocks of GPU $SLURM_JOB_GPUS after job $SLURM_JOB_ID"
exit 0
