#!/usr/bin/env bash
# Builds, installs, shows and tests Offcut. Every form can be run again and again.
set -euo pipefail

usage() {
  cat <<'EOT'
./install.sh                  build, and install to /usr/local/bin or ~/.local/bin
./install.sh --systemd        and as a hardened system service (needs root)
./install.sh --uninstall      remove the program and the service; never the data
./install.sh build            only build dist/offcut
./install.sh demo [FILE] [--script FILE]
                              build, start a server on a free port, cut and render a recording, stop
./install.sh test             all checks and tests
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

# Bun from the PATH, else from npm into a folder of this project, else by Bun's own installer into the same place.
use_bun() {
  has bun && bun_is_good bun && return
  local cache="$PWD/node_modules/.cache/bun-$BUN_VERSION"
  if ! bun_is_good "$cache/bin/bun"; then
    mkdir -p "$cache/bin"
    if has npm; then
      say "Bun $BUN_VERSION is not on the PATH: taking it from npm"
      npm install --prefix "$cache" --no-save --no-package-lock --no-audit --no-fund "bun@$BUN_VERSION" >/dev/null </dev/null || true
      [ ! -e "$cache/node_modules/bun/bin/bun.exe" ] || ln -sf ../node_modules/bun/bin/bun.exe "$cache/bin/bun"
    fi
    if ! bun_is_good "$cache/bin/bun" && has curl; then
      say "Bun $BUN_VERSION is not on the PATH: taking it from bun.sh"
      curl -fsSL https://bun.sh/install | BUN_INSTALL="$cache" bash -s "bun-v$BUN_VERSION" >/dev/null || true
    fi
    bun_is_good "$cache/bin/bun" || fail "needs Bun $BUN_VERSION or later: see https://bun.sh"
    ln -sf bun "$cache/bin/bunx"
  fi
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

# --- Packages of the system ---

# install_debian WHY PACKAGE...: installs what it may, and says so when it may not.
install_debian() {
  local why=$1
  shift
  if ! is_root || ! has apt-get; then
    say "missing for $why, and not installed here (that needs root and apt-get): $*"
    return 1
  fi
  say "installing for $why: $*"
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
  # Beside and renamed: a program that runs cannot be written over.
  cp "$EXECUTABLE" "$folder/.offcut.new"
  chmod 755 "$folder/.offcut.new"
  mv -f "$folder/.offcut.new" "$folder/offcut"
  say "installed: $folder/offcut"
  case ":$PATH:" in *":$folder:"*) ;; *) say "add it to your PATH: export PATH=\"$folder:\$PATH\"" ;; esac
}

install_service() {
  is_root || fail "--systemd needs root"
  has systemctl || fail "--systemd: there is no systemd on this machine"
  install_program
  has ffmpeg || install_debian "faster and newer codecs (the bundled ffmpeg works too)" ffmpeg || true
  if ! id offcut >/dev/null 2>&1; then
    useradd --system --user-group --home-dir "$DATA" --shell /usr/sbin/nologin offcut
  fi
  install -d -m 0700 -o offcut -g offcut "$DATA"
  mkdir -p /etc/offcut
  if [ -e "$CONFIG" ]; then
    grep -q '^ *data_dir' "$CONFIG" || printf 'data_dir = "%s"\n' "$DATA" | cat - "$CONFIG" >"$CONFIG.new"
    [ ! -e "$CONFIG.new" ] || mv "$CONFIG.new" "$CONFIG"
  else
    printf '# Read by every offcut command. Secrets belong into /etc/offcut/offcut.env (OFFCUT_NAME=value, mode 0600).\ndata_dir = "%s"\nhost = "0.0.0.0"\n' "$DATA" >"$CONFIG"
    chmod 644 "$CONFIG"
  fi
  unit >"$UNIT"
  if [ ! -d /run/systemd/system ]; then
    say "written: $UNIT (systemd does not run here, so it was not started)"
    return
  fi
  systemctl daemon-reload
  systemctl enable --quiet offcut
  systemctl restart offcut
  say "running: systemctl status offcut"
  say "first account: sudo -u offcut offcut user create --admin --email YOU@EXAMPLE.ORG"
}

unit() {
  local groups="" group
  for group in video render; do
    if getent group "$group" >/dev/null; then groups="$groups $group"; fi
  done
  cat <<EOT
[Unit]
Description=Offcut, cuts and renders recordings
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

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
# Graphics cards encode; no other device is needed. MemoryDenyWriteExecute is left out: JavaScript is compiled while it runs.
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
    is_root || fail "the service is installed: removing it needs root"
    if [ -d /run/systemd/system ]; then systemctl disable --now --quiet offcut || true; fi
    rm -f "$UNIT"
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
    say "removed: $UNIT"
  fi
  for path in /usr/local/bin/offcut "$HOME/.local/bin/offcut"; do
    if [ -e "$path" ]; then
      rm -f "$path"
      say "removed: $path"
    fi
  done
  for path in "$DATA" "$HOME/.local/share/offcut" /etc/offcut; do
    if [ -e "$path" ]; then say "kept: $path"; fi
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
  [ -f "$recording" ] || fail "there is no file $recording"
  [ -z "$script" ] || [ -f "$script" ] || fail "there is no file $script"
  build

  # Nothing of this machine's own Offcut takes part.
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
  say "" "Offcut runs at $url, its data in $folder/data"
  "$EXECUTABLE" user create "${settings[@]}" --email demo@example.org --password - <<<"demo-$RANDOM-$RANDOM-$RANDOM" >/dev/null
  local key
  key=$("$EXECUTABLE" key create "${settings[@]}" --email demo@example.org --name demo)
  bun src/build/demo.ts --url "$url" --key "$key" --out "$out" ${script:+--script "$script"} ${expect[@]+"${expect[@]}"} "$recording" ||
    { tail -n 20 "$folder/log" >&2 && fail "the demo failed"; }
  kill -TERM "$server"
  wait "$server" || fail "the server did not stop cleanly"
  DEMO_SERVER=
  say "The server has stopped. The demo went well."
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

# run_tests NAME PATH...: counts from the runner's closing lines. A run without a test, or one that ends otherwise, counts as broken.
run_tests() {
  local name=$1 log passed failed status=0 limit=()
  shift
  log=$(mktemp)
  say "" "== $name =="
  if has timeout; then limit=(timeout --kill-after=10 1200); fi
  ${limit[@]+"${limit[@]}"} bun test --timeout 30000 "$@" </dev/null 2>&1 | tee "$log" || status=$?
  passed=$(sed -n 's/^ *\([0-9][0-9]*\) pass$/\1/p' "$log" | tail -n 1)
  failed=$(sed -n 's/^ *\([0-9][0-9]*\) fail$/\1/p' "$log" | tail -n 1)
  rm -f "$log"
  PASSED=$((PASSED + ${passed:-0}))
  FAILED=$((FAILED + ${failed:-0}))
  if [ "${passed:-0}" -eq 0 ] || { [ "$status" -ne 0 ] && [ "${failed:-0}" -eq 0 ]; }; then
    say "$name: no test passed, or the run broke off (exit $status)"
    BROKEN=$((BROKEN + 1))
  fi
}

run_all_tests() {
  local name
  for name in $(compgen -e OFFCUT_ || true); do [ "$name" = OFFCUT_FULL ] || unset "$name"; done
  test_packages
  packages
  say "" "== types, lint, format, unused code, direction rule =="
  # The tests still run: one start tells everything that is wrong.
  bun run check || BROKEN=$((BROKEN + 1))
  bun src/build/executable.ts --out "$EXECUTABLE"
  run_tests "unit" test/architecture.test.ts test/unit
  for name in contract http browser; do
    if compgen -G "test/$name/*.test.ts" >/dev/null; then run_tests "$name" "test/$name"; else say "$name: no tests yet"; fi
  done
  # The executable alone in a folder: no node_modules in reach.
  TEST_FOLDER=$(mktemp -d)
  trap 'rm -rf "$TEST_FOLDER"' EXIT
  cp "$EXECUTABLE" "$TEST_FOLDER/offcut"
  export OFFCUT_EXECUTABLE="$TEST_FOLDER/offcut"
  OFFCUT_TEST_PATH=/usr/bin:/bin run_tests "attacks" test/attacks
  OFFCUT_TEST_PATH=/usr/bin:/bin run_tests "end to end" test/e2e
  OFFCUT_TEST_PATH='' run_tests "end to end, empty PATH" test/e2e
  [ "$BROKEN" -eq 0 ] || say "" "checks that failed, or test runs that broke off: $BROKEN"
  say "" "$PASSED passed, $FAILED failed"
  [ "$PASSED" -gt 0 ] && [ "$FAILED" -eq 0 ] && [ "$BROKEN" -eq 0 ]
}

case "${1:-}" in
  "") install_program ;;
  --systemd) install_service ;;
  --uninstall) uninstall ;;
  build) build ;;
  demo) shift && demo "$@" ;;
  test) run_all_tests ;;
  -h | --help | help) usage ;;
  *) usage >&2 && exit 2 ;;
esac
