#!/bin/bash
# Workers as a job array, for a run that listens where the nodes reach it:
#
#   BENCHMINT_TOKEN_FILE=$HOME/token sbatch --array=0-19 deploy/slurm.sh nats://HOST:4222
#SBATCH --job-name=benchmint
#SBATCH --array=0-1
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --requeue
set -eu
# Of the node and not of the network: the workers of a node share it.
XDG_CACHE_HOME=${TMPDIR:-/tmp}/benchmint-$(id -un)
export XDG_CACHE_HOME
exec benchmint work --jobs "${SLURM_CPUS_PER_TASK:-1}" "$1"
