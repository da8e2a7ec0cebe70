#!/bin/sh
# Installs an agent of Vantage on a Linux host with glibc, as root, or upgrades it; --remove removes it. The service that
# sends this script has filled in its version. It prints the line that runs it with a join token: the first time the script
# needs VANTAGE_JOIN_TOKEN, VANTAGE_REGION and VANTAGE_CONTROL_PLANE, later none of them.
#
# shellcheck disable=SC2317 # a trap calls finish
set -eu

version='@VERSION@'
file='@FILE@'
digest='@SHA256@'
architecture='@ARCHITECTURE@'
base='@BASE@'

home=/opt/vantage-agent
settings=/etc/vantage/agent.env
state=/var/lib/vantage-agent
unit=/etc/systemd/system/vantage-agent.service
command=/usr/local/bin/vantage
user=vantage-agent
# Free space that the archive and its files need, kB.
space=300000
# Time for a new version to attach, seconds.
patience=60
# What this run has done: nothing, then switched to the new version, then finished.
stage=nothing
work=''
before=''

die() {
  printf 'vantage: %s\n' "$*" >&2
  exit 1
}

has_systemd() {
  [ -d /run/systemd/system ]
}

# What runs on must not hold the lock.
system() {
  systemctl "$@" 9>&-
}

# What is a volume of its own stays, empty.
erase() {
  rm -rf "$@" 2>/dev/null || :
}

check_host() {
  [ "$(id -u)" = 0 ] || die 'run this as root: sudo -i, then the same line'
  [ "$(uname -s)" = Linux ] || die "the agent runs on Linux, and this is $(uname -s)"
  libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) ||
    die 'the agent needs glibc 2.36 or newer, and this host has another C library, such as musl'
  libc=${libc#glibc }
  minor=${libc#*.}
  [ "${libc%%.*}" -gt 2 ] || [ "${minor%%.*}" -ge 36 ] ||
    die "the agent needs glibc 2.36 or newer (Debian 12), and this host has $libc"
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) machine=$(uname -m) ;;
  esac
  [ "$machine" = "$architecture" ] ||
    die "this service has the agent for $architecture alone, and this host is $machine: unpack the archive of the release"
  for tool in curl flock gzip setpriv sha256sum tar timeout useradd; do
    command -v "$tool" >/dev/null || die "$tool is missing: install it first"
  done
}

check_owner() {
  for package in vantage vantage-agent; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || continue
    [ "$status" != installed ] || die "the Debian package $package is installed: apt manages it"
  done
  if [ -e "$unit" ] && ! grep -q "$home/current/" "$unit"; then
    die "$unit belongs to another installation: remove it first"
  fi
}

take_lock() {
  mkdir -p "$home"
  exec 9>"$home/.lock"
  flock -n 9 || die 'another run of this script is not finished'
}

check_settings() {
  case ${VANTAGE_JOIN_TOKEN-} in *[!A-Za-z0-9_-]*) die 'VANTAGE_JOIN_TOKEN is not a join token' ;; esac
  case ${VANTAGE_REGION-} in *[!a-z0-9-]*) die 'VANTAGE_REGION must be lower-case letters, digits and hyphens' ;; esac
  case ${VANTAGE_CONTROL_PLANE-} in
    *[!][A-Za-z0-9.:,/_-]*) die 'VANTAGE_CONTROL_PLANE must be host:port' ;;
  esac
  [ -L "$home/current" ] ||
    { [ -n "${VANTAGE_JOIN_TOKEN-}" ] && [ -n "${VANTAGE_REGION-}" ] && [ -n "${VANTAGE_CONTROL_PLANE-}" ]; } ||
    die 'set VANTAGE_JOIN_TOKEN, VANTAGE_REGION and VANTAGE_CONTROL_PLANE: the service prints the line: vantage probes token'
}

# Cleans up at every end. A version that this run has switched to, and that has not attached, gives way to the one before.
finish() {
  status=$?
  trap - EXIT
  trap '' HUP INT TERM
  set +e
  [ "$stage" != switched ] || restore
  [ "$stage" = nothing ] || rm -f "$settings.before" "$unit.before"
  [ -z "$work" ] || rm -rf "$work"
  [ -L "$home/current" ] || erase "$home"
  exit "$status"
}

download() {
  free=$(df -Pk "$home" | { read -r _; read -r _ _ _ kilobytes _; echo "$kilobytes"; })
  [ "$free" -ge "$space" ] || die "$home needs $((space / 1000)) MB, and has $((free / 1000)) MB free"
  echo "Downloading $base/install/$file"
  # The first request waits until the service has made the archive.
  problem=$(curl --fail-with-body -sS --retry 3 --connect-timeout 20 --speed-limit 1000 --speed-time 180 \
    -D "$work/head" -o "$work/$file" "$base/install/$file" 2>&1) ||
    die "cannot download the archive, nothing is changed: $(explain "$problem")"
  check_clock
  printf '%s  %s\n' "$digest" "$work/$file" | sha256sum -c - >/dev/null 2>&1 ||
    die "$file is not the one of this release, as its SHA-256 differs: nothing is changed"
  problem=$(tar -xzf "$work/$file" -C "$work" --no-same-owner 2>&1) ||
    die "cannot unpack the archive, nothing is changed: $(printf '%s' "$problem" | head -n 1)"
  unpacked=$work/${file%-linux-*}
  problem=$("$unpacked/lib/node" --version 2>&1) ||
    die "the agent's Node.js does not run here, nothing is changed: $(printf '%s' "$problem" | head -n 1)"
  sync -f "$unpacked"
  mv -T "$unpacked" "$home/$version"
}

# Says why a download failed: in the words of the service, if it has answered.
explain() {
  case $1 in
    *'(22)'*) head -c 300 "$work/$file" | head -n 1 ;;
    *) printf '%s' "$1" | tail -n 1 ;;
  esac
}

# The certificates of agents have dates: a host whose clock is wrong cannot attach.
check_clock() {
  theirs=$(sed -n 's/^[Dd]ate: *//p' "$work/head" | tr -d '\r' | tail -n 1)
  theirs=$(date -d "$theirs" +%s 2>/dev/null) || return 0
  off=$(($(date +%s) - theirs))
  [ "${off#-}" -lt 3600 ] || die "the clock of this host is $off s away from that of the service: set it first, nothing is changed"
}

# Writes what this run was given, and keeps the operator's other lines.
write_settings() {
  mkdir -p "${settings%/*}"
  [ -e "$settings" ] || install -m 600 /dev/null "$settings"
  chmod 600 "$settings"
  for name in VANTAGE_JOIN_TOKEN VANTAGE_REGION VANTAGE_CONTROL_PLANE; do
    eval "value=\${$name-}"
    [ -n "$value" ] || continue
    sed -i "/^$name=/d" "$settings"
    printf '%s=%s\n' "$name" "$value" >>"$settings"
  done
}

# Without the head of the unit, which is about an installation by hand. The user is made above, as it keeps its number.
write_unit() {
  sed -e '1,/^$/d' -e '/^DynamicUser=/d' -e "s|/opt/vantage/|$home/current/|g" \
    "$home/$version/deploy/systemd/vantage-agent.service" >"$unit.new"
  mv "$unit.new" "$unit"
}

# Does what the unit does where there is no systemd.
write_starter() {
  install -d -o "$user" -g "$user" -m 0700 "$state"
  {
    echo '#!/bin/sh'
    echo '# Starts the agent as its own user, with raw sockets and no other privilege.'
    sed -n -e 's|%S|/var/lib|g' -e 's/^Environment=/export /p' "$home/$version/deploy/systemd/vantage-agent.service"
    cat <<END
while IFS= read -r line; do
  case \$line in [A-Z]*=*) export "\$line" ;; esac
done <$settings
umask 077
cd $state
exec setpriv --reuid=$user --regid=$user --clear-groups --no-new-privs --inh-caps=-all,+net_raw \\
  --ambient-caps=+net_raw --bounding-set=-all,+net_raw $home/current/lib/node $home/current/probe-agent/main.js
END
  } >"$home/start"
  chmod 755 "$home/start"
}

point() {
  ln -sfn "$2" "$home/.$1"
  mv -T "$home/.$1" "$home/$1"
}

switch() {
  before=$(readlink "$home/current") || before=''
  for kept in "$settings" "$unit"; do
    rm -f "$kept.before"
    [ ! -e "$kept" ] || cp -p "$kept" "$kept.before"
  done
  stage=switched
  getent passwd "$user" >/dev/null ||
    useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
  write_settings
  if has_systemd; then
    write_unit
    system daemon-reload
    system stop vantage-agent
    rm -f "$state/attached"
  else
    write_starter
  fi
  point current "$version"
}

# Puts back what was there before this run. Nothing of it needs space on a disk that may be full.
restore() {
  if [ -z "$before" ]; then
    remove_files
    [ ! -e "$settings.before" ] || mv "$settings.before" "$settings"
    return
  fi
  point current "$before"
  for kept in "$settings" "$unit"; do
    [ ! -e "$kept.before" ] || mv "$kept.before" "$kept"
  done
  [ "$before" = "$version" ] || rm -rf "${home:?}/$version"
  if has_systemd; then
    system daemon-reload
    system restart vantage-agent
  fi
  echo "vantage: version $before is back" >&2
}

journal() {
  journalctl -u vantage-agent -o cat --no-pager --since "@$started" 2>/dev/null || :
}

# Waits until the agent has attached, which it notes in its state. Ends as soon as the agent says that it cannot.
await() {
  started=$(date +%s)
  system enable --quiet vantage-agent
  system start vantage-agent 2>/dev/null || die "version $version does not start: journalctl -u vantage-agent"
  waited=0
  while [ "$waited" -lt "$patience" ]; do
    # The folder is the agent's: what is there need not be a file.
    [ "$(timeout 1 head -c 200 "$state/attached" 2>/dev/null)" != "$version" ] || return 0
    refusal=$(journal | sed -n 's/^vantage agent: //p' | tail -n 1)
    [ -z "$refusal" ] || die "version $version cannot attach: $refusal"
    sleep 1
    waited=$((waited + 1))
  done
  detail=$(journal | sed -n 's/.*"detail":"\([^"]*\)".*/\1/p' | tail -n 1)
  die "version $version has not attached within $patience s${detail:+: $detail}"
}

# Keeps this version and the one before.
tidy() {
  [ -z "$before" ] || [ "$before" = "$version" ] || point previous "$before"
  previous=$(readlink "$home/previous") || previous=''
  for folder in "$home"/*/; do
    name=${folder%/}
    name=${name##*/}
    case $name in current | previous | "$version" | "$previous") ;; *) rm -rf "$folder" ;; esac
  done
  if [ ! -e "$command" ] && [ ! -L "$command" ]; then
    ln -s "$home/current/bin/vantage" "$command"
  fi
}

add() {
  check_owner
  take_lock
  trap finish EXIT
  trap 'exit 1' HUP INT TERM
  check_settings
  rm -rf "$home"/.new.*
  work=$(mktemp -d "$home/.new.XXXXXX")
  [ -d "$home/$version" ] || download
  switch
  if has_systemd; then
    await
    # It is used up: the agent has an identity.
    sed -i '/^VANTAGE_JOIN_TOKEN=/d' "$settings"
    stage=finished
    tidy
    echo "The agent $version runs and is attached. Its log: journalctl -u vantage-agent"
    return
  fi
  stage=finished
  tidy
  cat <<END
The agent $version is installed. This host has no systemd, which would start it. Start it again now, and with the host:
  cron:   @reboot $home/start
  OpenRC: command=$home/start command_background=true pidfile=/run/vantage-agent.pid
END
}

end_processes() {
  owner=$(id -u "$user" 2>/dev/null) || return 0
  waited=0
  while [ "$waited" -lt 40 ]; do
    running=0
    for process in /proc/[0-9]*; do
      [ "$(stat -c %u "$process" 2>/dev/null)" = "$owner" ] || continue
      running=1
      [ "$waited" -gt 0 ] || kill "${process#/proc/}" 2>/dev/null || :
    done
    [ "$running" = 1 ] || return 0
    sleep 1
    waited=$((waited + 1))
  done
  die 'processes of the agent do not end'
}

remove_files() {
  if has_systemd && [ -e "$unit" ]; then
    system disable --quiet --now vantage-agent
    rm -f "$unit"
    system daemon-reload
    system reset-failed vantage-agent 2>/dev/null || :
  fi
  end_processes
  case $(readlink "$command") in "$home"/*) rm -f "$command" ;; esac
  erase "$home" "$state"
  rm -f "$settings"
  rmdir "${settings%/*}" 2>/dev/null || :
  ! getent passwd "$user" >/dev/null || userdel "$user"
}

remove() {
  check_owner
  [ -L "$home/current" ] || die 'there is no agent of this script here'
  take_lock
  name=$(timeout 1 head -c 100 "$state/identity/agent-id" 2>/dev/null) || name=''
  remove_files
  echo "The agent is removed.${name:+ It is still enrolled: vantage probes revoke $name}"
}

main() {
  umask 022
  check_host
  case ${1-} in
    '') add ;;
    --remove) remove ;;
    *) die "there is no $1: the only option is --remove" ;;
  esac
}

# A script of which a part is missing does nothing.
{ main "$@"; exit; }
