#!/usr/bin/env bash
# Builds, installs, demonstrates and tests Offcut. Every command can be run repeatedly.
set -euo pipefail

usage() {
  cat <<'EOT'
./install.sh                  build, and install to /usr/local/bin or ~/.local/bin
./install.sh --systemd        also install a hardened system service (needs root)
./install.sh --worker --systemd
                              install the service of a worker instead, which does work of a server on another machine;
                              OFFCUT_HEAD, and the files that OFFCUT_TOKEN_FILE and OFFCUT_REDIS_FILE name,
                              fill its configuration file
./install.sh --uninstall      remove the program and the services, but not the data
./install.sh build            build dist/offcut; OFFCUT_RELEASE_KEY, a public key of minisign, is the one that its upgrades need
./install.sh package          build a release and sign it with OFFCUT_SIGNING_KEY, a secret key of minisign -G -W or its file
./install.sh demo [FILE] [--script FILE]
                              build, start a server on a free port, cut and render a recording, stop the server
./install.sh test             run all checks and tests; OFFCUT_FULL=1 runs the long ones at full size
./install.sh --help           print this text, also after a command
EOT
}

readonly CALLER_FOLDER=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly BUN_VERSION=1.4.5
readonly EXECUTABLE=dist/offcut
readonly UNIT=/etc/systemd/system/offcut.service
readonly CONFIG=/etc/offcut/offcut.toml
readonly DATA=/var/lib/offcut
readonly WORKER_UNIT=/etc/systemd/system/offcut-worker.service
readonly WORKER_CONFIG=/etc/offcut/worker.toml
readonly WORKER_DATA=/var/lib/offcut-worker

say() { printf '%s\n' "$@"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}
# wrong_call REASON: says what is wrong and how to call this script.
wrong_call() {
  printf 'install.sh: %s\n\n' "$*" >&2
  usage >&2
  exit 2
}
# from_caller PATH: prints the path as the caller means it, from any folder.
from_caller() { case $1 in /*) say "$1" ;; *) say "$CALLER_FOLDER/$1" ;; esac; }
has() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" -eq 0 ]; }

# --- Bun and the packages ---

bun_is_good() {
  local found
  found=$("$1" --version 2>/dev/null) || return 1
  [ "$(printf '%s\n%s\n' "$BUN_VERSION" "$found" | sort -V | head -n 1)" = "$BUN_VERSION" ]
}

# bun_package: prints the npm package of Bun for this platform and its SHA-256. Update all of them with BUN_VERSION.
bun_package() {
  local platform
  platform="$(uname -s)-$(uname -m)"
  if [ "$platform" = Linux-x86_64 ] && ! grep -qw avx2 /proc/cpuinfo; then platform=Linux-x86_64-old; fi
  case $platform in
    Linux-x86_64) say linux-x64 0c72edca57b0cbf0a07a242daf0ea8ea96711827f042b80a1c383ce1cc51c771 ;;
    Linux-x86_64-old) say linux-x64-baseline c18ff4130882eaa8209f0b3e66a202abd1e07a137f38a254d0b7431bc6a03827 ;;
    Linux-aarch64) say linux-aarch64 c3cd56594c9d5d025df87f77c68ad4699a49b52551f0f3232be6f727533fe08c ;;
    Darwin-x86_64) say darwin-x64 406b8f14f1fd0d528167714df9fe821107ee684e0a2ce2aaac780f7f76e9a551 ;;
    Darwin-arm64) say darwin-aarch64 88c398ee13212e8b189119a2bddc7d240ae4f1252c1d0ae2ac1fd44c921fdcb1 ;;
    *) return 1 ;;
  esac
}

sha256_of() {
  if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# fetch_bun FOLDER: downloads Bun, verifies it and installs it to FOLDER/bin.
fetch_bun() {
  local cache=$1 package name checksum archive found
  package=$(bun_package) || fail "cannot download Bun $BUN_VERSION for $(uname -s) $(uname -m): install it from https://bun.sh"
  { read -r name && read -r checksum; } <<<"$package"
  has npm || fail "Bun $BUN_VERSION or later is required: install it from https://bun.sh, or install npm so that it can be downloaded"
  say "Bun $BUN_VERSION is not on the PATH: downloading @oven/bun-$name from npm"
  rm -rf "$cache"
  mkdir -p "$cache/bin"
  archive=$(cd "$cache" && npm pack --silent "@oven/bun-$name@$BUN_VERSION" </dev/null 2>/dev/null | tail -n 1) || true
  [ -n "$archive" ] && [ -f "$cache/$archive" ] || fail "cannot download @oven/bun-$name@$BUN_VERSION from npm"
  found=$(sha256_of "$cache/$archive")
  if [ "$found" != "$checksum" ]; then
    rm -rf "$cache"
    fail "@oven/bun-$name@$BUN_VERSION has SHA-256 $found, expected $checksum: the download was deleted"
  fi
  tar -xzf "$cache/$archive" -C "$cache" package/bin/bun
  mv "$cache/package/bin/bun" "$cache/bin/bun"
  rm -rf "${cache:?}/$archive" "$cache/package"
  ln -sf bun "$cache/bin/bunx"
}

# use_bun: uses Bun from the PATH, else downloads it from npm into this project.
use_bun() {
  has bun && bun_is_good bun && return
  local cache="$PWD/node_modules/.cache/bun-$BUN_VERSION"
  bun_is_good "$cache/bin/bun" || fetch_bun "$cache"
  bun_is_good "$cache/bin/bun" || fail "Bun $BUN_VERSION does not run on this machine"
  export PATH="$cache/bin:$PATH"
}

packages() {
  use_bun
  say "Bun $(bun --version)"
  bun install --frozen-lockfile
}

build() {
  packages
  bun src/build/executable.ts --out "$EXECUTABLE"
}

package() {
  case ${OFFCUT_SIGNING_KEY:-} in
    "") fail "package: set OFFCUT_SIGNING_KEY to a secret key of minisign -G -W, or to the path of its file" ;;
    # Another folder is the current one now.
    [!/]*) if [ -f "$CALLER_FOLDER/$OFFCUT_SIGNING_KEY" ]; then export OFFCUT_SIGNING_KEY="$CALLER_FOLDER/$OFFCUT_SIGNING_KEY"; fi ;;
  esac
  packages
  bun src/build/package.ts --out "$EXECUTABLE"
}

# --- System packages ---

# install_debian PURPOSE PACKAGE...: installs packages with apt-get. Prints a message and fails without root or apt-get.
install_debian() {
  local purpose=$1
  shift
  if ! is_root || ! has apt-get; then
    say "Packages for $purpose are missing, and installing them needs root and apt-get: $*"
    return 1
  fi
  say "Installing packages for $purpose: $*"
  apt-get update -qq </dev/null || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}

test_packages() {
  local missing=()
  has ffmpeg || missing+=(ffmpeg)
  has redis-server || missing+=(redis-server)
  # The shell needs a third of the browser's time; not every distribution has it.
  if [ "${OFFCUT_FULL:-}" = 1 ]; then
    has chromium || missing+=(chromium)
    has firefox-esr || missing+=(firefox-esr)
  elif ! has chromium-headless-shell; then
    install_debian "the tests" chromium-headless-shell || has chromium || missing+=(chromium)
  fi
  has melt || missing+=(melt)
  has bwrap || missing+=(bubblewrap)
  has curl || missing+=(curl)
  has python3 || missing+=(python3)
  has openssl || missing+=(openssl)
  has minisign || missing+=(minisign)
  compgen -G '/usr/lib/*-linux-gnu/libflite.so.1' >/dev/null || missing+=(libflite1)
  [ -d /usr/share/pocketsphinx/test/data ] || missing+=(pocketsphinx-testdata)
  [ ${#missing[@]} -eq 0 ] || install_debian "the tests" "${missing[@]}" || true
}

# --- Installation ---

program_folder() {
  if is_root || [ -w /usr/local/bin ]; then say /usr/local/bin; else say "$HOME/.local/bin"; fi
}

install_program() {
  build
  local folder
  folder=$(program_folder)
  mkdir -p "$folder"
  # A running program cannot be overwritten: copy next to it, then rename.
  cp "$EXECUTABLE" "$folder/.offcut.new"
  chmod 755 "$folder/.offcut.new"
  mv -f "$folder/.offcut.new" "$folder/offcut"
  say "Installed $folder/offcut"
  case ":$PATH:" in *":$folder:"*) ;; *) say "Add it to your PATH: export PATH=\"$folder:\$PATH\"" ;; esac
}

# prepare_service USER FOLDER: installs the program, and what a service needs besides its configuration.
prepare_service() {
  local user=$1 folder=$2
  is_root || fail "--systemd needs root"
  has systemctl || fail "--systemd: systemd is not installed"
  install_program
  has ffmpeg || install_debian "current codecs (the bundled ffmpeg is from 2018)" ffmpeg || true
  has bwrap || install_debian "the sandbox of media processes" bubblewrap || true
  if ! id "$user" >/dev/null 2>&1; then
    useradd --system --user-group --home-dir "$folder" --shell /usr/sbin/nologin "$user"
  fi
  install -d -m 0700 -o "$user" -g "$user" "$folder"
  mkdir -p /etc/offcut
}

# start_service NAME: starts the service now and at each start of the machine. Fails when systemd is not running.
start_service() {
  if [ ! -d /run/systemd/system ]; then
    say "Wrote /etc/systemd/system/$1.service. systemd is not running, so the service was not started."
    return 1
  fi
  systemctl daemon-reload
  systemctl enable --quiet "$1"
  systemctl restart "$1"
  say "The service is running: systemctl status $1"
}

install_service() {
  prepare_service offcut "$DATA"
  if [ -e "$CONFIG" ]; then
    add_data_dir "$CONFIG" "$DATA"
  else
    printf '# Read by every offcut command. Put secrets into /etc/offcut/offcut.env (OFFCUT_NAME=value, mode 0600).\ndata_dir = "%s"\nhost = "0.0.0.0"\n' "$DATA" >"$CONFIG"
    chmod 644 "$CONFIG"
  fi
  unit "Offcut media cutting and rendering server" offcut "serve" 2 30 "$CONFIG" >"$UNIT"
  start_service offcut || return 0
  say "Create the first account: open the link that sudo -u offcut offcut setup-url prints,"
  say "or run sudo -u offcut offcut user create --admin --email YOU@EXAMPLE.ORG"
}

# add_data_dir FILE FOLDER: adds the setting to a configuration file without it. The file keeps its owner and mode: passwords may be in it.
add_data_dir() {
  if grep -q '^[[:blank:]]*data_dir' "$1"; then return; fi
  local file
  # A symbolic link stays one.
  file=$(readlink -f "$1")
  cp -p "$file" "$file.new"
  printf 'data_dir = "%s"\n' "$2" | cat - "$file" >"$file.new"
  mv "$file.new" "$file"
}

install_worker_service() {
  prepare_service offcut-worker "$WORKER_DATA"
  if [ -e "$WORKER_CONFIG" ]; then
    say "Kept $WORKER_CONFIG"
  else
    # The token is in it.
    (umask 077 && worker_config >"$WORKER_CONFIG.new")
    chown root:offcut-worker "$WORKER_CONFIG.new"
    chmod 640 "$WORKER_CONFIG.new"
    mv "$WORKER_CONFIG.new" "$WORKER_CONFIG"
  fi
  # A worker drains for 30 s before it ends.
  unit "Offcut worker" offcut-worker "worker --config $WORKER_CONFIG" 10 45 "$WORKER_CONFIG" >"$WORKER_UNIT"
  local name
  for name in head token redis; do
    if ! grep -q "^[[:blank:]]*$name[[:blank:]]*=" "$WORKER_CONFIG"; then
      if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
      say "Wrote $WORKER_UNIT. Complete $WORKER_CONFIG ($name is missing), then run: systemctl enable --now offcut-worker"
      return
    fi
  done
  start_service offcut-worker || true
}

# worker_config: prints the configuration of a worker. Secrets come from files, as others can see command lines.
worker_config() {
  local token redis
  token=$(secret_of OFFCUT_TOKEN)
  redis=$(secret_of OFFCUT_REDIS)
  say "# Read by offcut worker. For other commands on this machine: sudo -u offcut-worker offcut models list --config $WORKER_CONFIG"
  say "data_dir = \"$WORKER_DATA\""
  worker_setting head "${OFFCUT_HEAD:-}" https://offcut.example.org "address of the server"
  worker_setting token "$token" wt_... "from offcut worker token create on the server"
  worker_setting redis "$redis" rediss://user:password@redis.example.org:6379 "redis_url of the server, as this machine reaches it"
  say "# jobs = [\"render\", \"prepare\", \"cut\"]" "# slots = 2" "# ca = \"/etc/offcut/ca.pem\""
}

# secret_of NAME: prints the first line of the file that the variable NAME_FILE names, else the value of the variable NAME.
secret_of() {
  local name=$1_FILE path
  path=${!name:-}
  if [ -z "$path" ]; then
    say "${!1:-}"
    return
  fi
  path=$(from_caller "$path")
  [ -r "$path" ] || fail "file not found: $path"
  head -n 1 "$path" | tr -d '\r'
}

# worker_setting NAME VALUE EXAMPLE ABOUT: prints the setting, as a comment without a value.
worker_setting() {
  case $2 in *[\'$'\n']*) fail "the value of $1 contains a quote or a line break" ;; esac
  say "# $4"
  if [ -n "$2" ]; then say "$1 = '$2'"; else say "# $1 = \"$3\""; fi
}

# bwrap_works USER: succeeds when the user can run a program in bwrap, with all that the sandbox of media processes needs.
bwrap_works() {
  runuser -u "$1" -- bwrap --unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --proc /proc --dev /dev true >/dev/null 2>&1
}

# unit DESCRIPTION USER COMMAND RESTART_SECONDS STOP_SECONDS CONFIG: prints the unit of a service, whose data folder has the name of its user.
unit() {
  local description=$1 user=$2 command=$3 restart=$4 stop=$5 config=$6 groups="" group sandbox=""
  # The environment overrides the file, in which an administrator may have chosen another sandbox.
  if ! grep -q '^[[:blank:]]*sandbox[[:blank:]]*=' "$config" && bwrap_works "$user"; then sandbox=require; fi
  for group in video render; do
    if getent group "$group" >/dev/null; then groups="$groups $group"; fi
  done
  cat <<EOT
[Unit]
Description=$description
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=$(program_folder)/offcut $command
${sandbox:+# bwrap works here. With a setting sandbox in $config, the next installation leaves this out.
Environment=OFFCUT_SANDBOX=$sandbox
}EnvironmentFile=-/etc/offcut/$user.env
User=$user
Group=$user
${groups:+SupplementaryGroups=${groups# }
}StateDirectory=$user
StateDirectoryMode=0700
UMask=0077
Restart=on-failure
# The head refuses the token of this worker.
RestartPreventExitStatus=77
RestartSec=$restart
KillMode=mixed
TimeoutStopSec=$stop
LimitNOFILE=65536
# A dump of the memory has secrets in it.
LimitCORE=0
# Out of memory, the kernel ends the process that uses the most, not the whole service.
MemoryMax=80%
TasksMax=4096
OOMPolicy=continue

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectKernelModules=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
LockPersonality=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
# bwrap, which isolates media processes, creates namespaces and mounts. It needs a /proc without mounts below it, which rules out
# ProtectHostname, ProtectKernelLogs and ProtectKernelTunables; without root and capabilities the service cannot change what they protect.
RestrictNamespaces=cgroup ipc mnt net pid user uts
SystemCallFilter=@system-service mount umount2 pivot_root
# Graphics cards encode video; no other device is needed. MemoryDenyWriteExecute would prevent the JavaScript JIT.
DevicePolicy=closed
DeviceAllow=char-drm rw
DeviceAllow=char-nvidia-frontend rw
DeviceAllow=char-nvidia-uvm rw
DeviceAllow=char-video4linux rw

[Install]
WantedBy=multi-user.target
EOT
}

uninstall() {
  local path
  for path in "$UNIT" "$WORKER_UNIT"; do
    [ -e "$path" ] || continue
    is_root || fail "removing the service needs root"
    if [ -d /run/systemd/system ]; then systemctl disable --now --quiet "$(basename "$path")" || true; fi
    rm -f "$path"
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
    say "Removed $path"
  done
  for path in /usr/local/bin/offcut{,.previous} "$HOME"/.local/bin/offcut{,.previous}; do
    if [ -e "$path" ]; then
      rm -f "$path"
      say "Removed $path"
    fi
  done
  for path in "$DATA" "$WORKER_DATA" "$HOME/.local/share/offcut" /etc/offcut; do
    if [ -e "$path" ]; then say "Kept $path"; fi
  done
}

# --- The demo ---

demo() {
  local recording="" script="" expect=() folder server="" url="" out=dist/demo
  while [ $# -gt 0 ]; do
    case $1 in
      --script)
        [ $# -gt 1 ] || wrong_call "--script takes a file"
        script=$(from_caller "$2") && shift 2
        ;;
      -*) wrong_call "unknown option of demo: $1" ;;
      *) recording=$(from_caller "$1") && shift ;;
    esac
  done
  if [ -z "$recording" ]; then
    recording=test/fixtures/talk.mp4
    script=${script:-test/fixtures/talk.script.txt}
    expect=(--expect-retake)
  fi
  [ -f "$recording" ] || fail "file not found: $recording"
  [ -z "$script" ] || [ -f "$script" ] || fail "file not found: $script"
  build

  # The settings and the data of an installed Offcut are not used.
  local name
  for name in $(compgen -e OFFCUT_ || true); do unset "$name"; done
  DEMO_FOLDER=$(mktemp -d)
  DEMO_SERVER=
  trap demo_stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  folder=$DEMO_FOLDER
  : >"$folder/empty.toml"
  local settings=(--config "$folder/empty.toml" --data-dir "$folder/data")
  "$EXECUTABLE" serve "${settings[@]}" --port 0 >"$folder/log" 2>&1 </dev/null &
  server=$!
  DEMO_SERVER=$server
  for _ in $(seq 300); do
    url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$folder/log" | head -n 1)
    [ -z "$url" ] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  [ -n "$url" ] || { cat "$folder/log" >&2 && fail "the server did not start"; }
  say "" "Offcut is running at $url with its data in $folder/data"
  "$EXECUTABLE" user create "${settings[@]}" --email demo@example.org --password - <<<"demo-$RANDOM-$RANDOM-$RANDOM" >/dev/null
  local key
  key=$("$EXECUTABLE" key create "${settings[@]}" --email demo@example.org --name demo)
  bun src/demo/client.ts --url "$url" --key "$key" --out "$out" ${script:+--script "$script"} ${expect[@]+"${expect[@]}"} "$recording" ||
    { tail -n 20 "$folder/log" >&2 && fail "the demo failed"; }
  kill -TERM "$server"
  wait "$server" || fail "the server did not stop cleanly"
  DEMO_SERVER=
  say "The server has stopped. The demo succeeded."
}

demo_stop() {
  if [ -n "$DEMO_SERVER" ]; then
    kill -TERM "$DEMO_SERVER" 2>/dev/null || true
    wait "$DEMO_SERVER" 2>/dev/null || true
  fi
  rm -rf "$DEMO_FOLDER"
}

# --- The tests ---

run_all_tests() {
  test_packages
  packages
  bun src/build/test.ts --out "$EXECUTABLE"
}

for argument in "$@"; do
  case $argument in -h | --help) usage && exit 0 ;; esac
done
case "${1:-}" in
  "") install_program ;;
  --systemd)
    case "${2:-}" in
      "") install_service ;;
      --worker) install_worker_service ;;
      *) wrong_call "unknown option of --systemd: $2" ;;
    esac
    ;;
  --worker)
    if [ "${2:-}" != --systemd ]; then wrong_call "--worker needs --systemd"; fi
    install_worker_service
    ;;
  --uninstall) uninstall ;;
  build) build ;;
  package) package ;;
  demo) shift && demo "$@" ;;
  test)
    if [ $# -gt 1 ]; then wrong_call "test takes no arguments"; fi
    run_all_tests
    ;;
  help) usage ;;
  *) wrong_call "unknown command or option: $1" ;;
esac
