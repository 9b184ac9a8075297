# What the programs of a bundle need to find there; $here is its folder. Sourced by run.sh and hpl.sh.
# shellcheck shell=sh disable=SC2154
export PATH="$here/bin:$PATH"
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# Open MPI from this folder, one process on its own.
export OPAL_PREFIX="$here" OMPI_MCA_mca_base_component_path="$here/lib/openmpi" OMPI_MCA_ess_singleton_isolated=1
export OMPI_MCA_pmix=isolated OMPI_MCA_pml=ob1 OMPI_MCA_btl=self
