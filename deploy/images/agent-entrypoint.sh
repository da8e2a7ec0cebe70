#!/bin/sh
# Runs the vantage command in the agent's image, with CAP_NET_RAW for ping and traceroute where the container allows it.
# File capabilities of Node.js would do the same, but then nothing would start in a container without NET_RAW.
command=/opt/vantage/bin/vantage
bounding=0 no_new_privileges=1
while read -r name value; do
  case $name in
    CapBnd:) bounding=$value ;;
    NoNewPrivs:) no_new_privileges=$value ;;
  esac
done </proc/self/status
# CAP_NET_RAW is bit 13 (linux/capability.h).
if [ $((0x$bounding & 0x2000)) -ne 0 ] && [ "$no_new_privileges" = 0 ]; then
  exec /sbin/capsh --inh=cap_net_raw --addamb=cap_net_raw --shell=$command -- "$@"
fi
exec $command "$@"
