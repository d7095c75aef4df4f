# Functions of .ci/schemathesis and .ci/generated-clients, which hold packages of Python against the program over some events. They set
# `work`, a folder of their own.

node=node_modules/node/bin/node
access_key=key-of-the-ci-for-every-zone
server=

# install_locked LOCK FOLDER: the folder is made anew when the locked versions change.
install_locked() {
  cmp -s "$1" "$2/installed.txt" && return
  rm -rf "$2"
  python3 -m venv "$2" &&
    "$2/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$1" &&
    cp "$1" "$2/installed.txt"
}

stop_program() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
    server=
  fi
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# start_program NAME KEY VARIABLE=VALUE... starts the program with these variables over a folder with some events, which are sent with KEY.
# It sets `url`, and fails with the reason on standard output.
start_program() {
  local name=$1 key=$2 port
  shift 2
  [[ -x $node ]] || npm run --silent shieldlog -- --version >"$work/version" || { echo 'the program cannot be installed'; return 1; }
  port=$(free_port)
  url=http://127.0.0.1:$port
  env HOST=127.0.0.1 PORT="$port" DATA_DIR="$work/$name" LOG_LEVEL=warn DEMO=false "$@" "$node" src/main.ts serve >"$work/$name.log" 2>&1 &
  server=$!
  curl --silent --fail --output "$work/ready" --retry 120 --retry-delay 1 --retry-all-errors "$url/readyz" || { echo "the program $name does not start: $(<"$work/$name.log")"; return 1; }
  "$node" .ci/openapi/sample-events.mjs | SHIELDLOG_ACCESS_KEY=$key "$node" src/main.ts ingest - --url "$url" || { echo "the program $name takes no events"; return 1; }
}
