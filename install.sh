#!/usr/bin/env bash
# Builds, installs, demonstrates and tests Offcut. Every command can be run repeatedly.
set -euo pipefail

usage() {
  cat <<'EOT'
./install.sh                  build, and install to /usr/local/bin or ~/.local/bin
./install.sh --systemd        also install a hardened system service (needs root)
./install.sh --uninstall      remove the program and the service, but not the data
./install.sh build            build dist/offcut
./install.sh demo [FILE] [--script FILE]
                              build, start a server on a free port, cut and render a recording, stop the server
./install.sh test             run all checks and tests; OFFCUT_FULL=1 runs the long ones at full size
./install.sh --help           print this text, also after a command
EOT
}

cd "$(dirname "${BASH_SOURCE[0]}")"
readonly BUN_VERSION=1.4.5
readonly EXECUTABLE=dist/offcut
readonly UNIT=/etc/systemd/system/offcut.service
readonly CONFIG=/etc/offcut/offcut.toml
readonly DATA=/var/lib/offcut

say() { printf '%s\n' "$@"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}
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
  has chromium || missing+=(chromium)
  has melt || missing+=(melt)
  has bwrap || missing+=(bubblewrap)
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

install_service() {
  is_root || fail "--systemd needs root"
  has systemctl || fail "--systemd: systemd is not installed"
  install_program
  has ffmpeg || install_debian "current codecs (the bundled ffmpeg is from 2018)" ffmpeg || true
  has bwrap || install_debian "the sandbox of media processes" bubblewrap || true
  if ! id offcut >/dev/null 2>&1; then
    useradd --system --user-group --home-dir "$DATA" --shell /usr/sbin/nologin offcut
  fi
  install -d -m 0700 -o offcut -g offcut "$DATA"
  mkdir -p /etc/offcut
  if [ -e "$CONFIG" ]; then
    grep -q '^ *data_dir' "$CONFIG" || printf 'data_dir = "%s"\n' "$DATA" | cat - "$CONFIG" >"$CONFIG.new"
    [ ! -e "$CONFIG.new" ] || mv "$CONFIG.new" "$CONFIG"
  else
    printf '# Read by every offcut command. Put secrets into /etc/offcut/offcut.env (OFFCUT_NAME=value, mode 0600).\ndata_dir = "%s"\nhost = "0.0.0.0"\n' "$DATA" >"$CONFIG"
    chmod 644 "$CONFIG"
  fi
  unit >"$UNIT"
  if [ ! -d /run/systemd/system ]; then
    say "Wrote $UNIT. systemd is not running, so the service was not started."
    return
  fi
  systemctl daemon-reload
  systemctl enable --quiet offcut
  systemctl restart offcut
  say "The service is running: systemctl status offcut"
  say "Create the first account: open the link that sudo -u offcut offcut setup-url prints,"
  say "or run sudo -u offcut offcut user create --admin --email YOU@EXAMPLE.ORG"
}

unit() {
  local groups="" group
  for group in video render; do
    if getent group "$group" >/dev/null; then groups="$groups $group"; fi
  done
  cat <<EOT
[Unit]
Description=Offcut media cutting and rendering server
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=$(program_folder)/offcut serve
EnvironmentFile=-/etc/offcut/offcut.env
User=offcut
Group=offcut
${groups:+SupplementaryGroups=${groups# }
}StateDirectory=offcut
StateDirectoryMode=0700
UMask=0077
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=30
LimitNOFILE=65536
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
  if [ -e "$UNIT" ]; then
    is_root || fail "removing the service needs root"
    if [ -d /run/systemd/system ]; then systemctl disable --now --quiet offcut || true; fi
    rm -f "$UNIT"
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
    say "Removed $UNIT"
  fi
  for path in /usr/local/bin/offcut "$HOME/.local/bin/offcut"; do
    if [ -e "$path" ]; then
      rm -f "$path"
      say "Removed $path"
    fi
  done
  for path in "$DATA" "$HOME/.local/share/offcut" /etc/offcut; do
    if [ -e "$path" ]; then say "Kept $path"; fi
  done
}

# --- The demo ---

demo() {
  local recording="" script="" expect=() folder server="" url="" out=dist/demo
  while [ $# -gt 0 ]; do
    case $1 in
      --script) script=${2:?--script takes a file} && shift 2 ;;
      -*) usage >&2 && exit 2 ;;
      *) recording=$1 && shift ;;
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

PASSED=0
FAILED=0
BROKEN=0

# Seconds and name of each suite, one per line.
DURATIONS=""

# timed NAME COMMAND...: runs a command and records its duration.
timed() {
  local name=$1 started=$SECONDS status=0
  shift
  say "" "== $name =="
  "$@" || status=$?
  DURATIONS+=$(printf '%5d s  %s' $((SECONDS - started)) "$name")$'\n'
  return "$status"
}

# run_tests NAME PATH...: runs a suite.
run_tests() { timed "$1" count_tests "$@"; }

# count_tests NAME PATH...: runs two test files at a time and counts their results. A suite is broken when no test passed or the runner stopped early.
count_tests() {
  local name=$1 log passed failed status=0 limit=()
  shift
  log=$(mktemp)
  if has timeout; then limit=(timeout --kill-after=10 1200); fi
  ${limit[@]+"${limit[@]}"} bun test --timeout 30000 --parallel=2 "$@" </dev/null 2>&1 | tee "$log" || status=$?
  passed=$(sed -n 's/^ *\([0-9][0-9]*\) pass$/\1/p' "$log" | tail -n 1)
  failed=$(sed -n 's/^ *\([0-9][0-9]*\) fail$/\1/p' "$log" | tail -n 1)
  rm -f "$log"
  PASSED=$((PASSED + ${passed:-0}))
  FAILED=$((FAILED + ${failed:-0}))
  if [ "${passed:-0}" -eq 0 ] || { [ "$status" -ne 0 ] && [ "${failed:-0}" -eq 0 ]; }; then
    say "$name: no test passed, or the runner stopped early (exit code $status)"
    BROKEN=$((BROKEN + 1))
  fi
}

run_all_tests() {
  local name
  for name in $(compgen -e OFFCUT_ || true); do [ "$name" = OFFCUT_FULL ] || unset "$name"; done
  test_packages
  packages
  # The tests still run when this fails: one run reports everything.
  timed "types, lint, format, unused code, import rule" bun run check || BROKEN=$((BROKEN + 1))
  timed "build" bun src/build/executable.ts --out "$EXECUTABLE"
  run_tests "unit" test/unit
  for name in contract http browser; do
    if compgen -G "test/$name/*.test.ts" >/dev/null; then run_tests "$name" "test/$name"; else say "$name: no tests yet"; fi
  done
  # The executable is alone in a folder, so that it cannot use node_modules.
  TEST_FOLDER=$(mktemp -d)
  trap 'rm -rf "$TEST_FOLDER"' EXIT
  cp "$EXECUTABLE" "$TEST_FOLDER/offcut"
  export OFFCUT_EXECUTABLE="$TEST_FOLDER/offcut"
  OFFCUT_TEST_PATH=/usr/bin:/bin run_tests "attacks" test/attacks
  OFFCUT_TEST_PATH=/usr/bin:/bin run_tests "end to end" test/e2e
  OFFCUT_TEST_PATH='' run_tests "end to end, empty PATH" test/e2e
  [ "$BROKEN" -eq 0 ] || say "" "Failed checks and incomplete test runs: $BROKEN"
  say "" "$DURATIONS$(printf '%5d s' "$SECONDS")  total" "" "$PASSED passed, $FAILED failed"
  [ "$PASSED" -gt 0 ] && [ "$FAILED" -eq 0 ] && [ "$BROKEN" -eq 0 ]
}

for argument in "$@"; do
  case $argument in -h | --help) usage && exit 0 ;; esac
done
case "${1:-}" in
  "") install_program ;;
  --systemd) install_service ;;
  --uninstall) uninstall ;;
  build) build ;;
  demo) shift && demo "$@" ;;
  test)
    if [ $# -gt 1 ]; then usage >&2 && exit 2; fi
    run_all_tests
    ;;
  help) usage ;;
  *) usage >&2 && exit 2 ;;
esac
