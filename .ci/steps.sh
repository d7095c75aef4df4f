# Functions of .ci/run and .ci/nightly: each step is counted, and `finish_run` prints what failed and the line `N passed, N failed`.

log=$(mktemp)
# The lines that name what failed. They are printed once more at the end, where nobody has to look for them.
failures=$(mktemp)
# The test files that failed by nothing but time limits: a busy machine does that, too, so each is run once more, alone.
later=$(mktemp)
without=()
trap 'rm -rf "$log" "$failures" "$later" "${without[@]}"' EXIT
passed=0
failed=0

begin() {
  echo
  echo "==> $*"
  began=$SECONDS
}

finish() {
  echo "==> $((SECONDS - began)) s: $*"
}

# Runs a command that ends with a line `N passed, N failed`, and adds those up.
count() {
  begin "$@"
  RUN_ALONE_LATER=$later "$@" 2>&1 | tee "$log"
  add_count "${PIPESTATUS[0]}" "$@"
  finish "$@"
}

add_count() {
  local status=$1 failed_here=1 passed_here=0
  shift
  if [[ $(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1) =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed_here=${BASH_REMATCH[1]}
    failed_here=${BASH_REMATCH[2]}
  fi
  # A run that ended badly is a failure even where no test of its own failed.
  if [[ $status -ne 0 && $failed_here -eq 0 ]]; then
    failed_here=1
  fi
  passed=$((passed + passed_here))
  failed=$((failed + failed_here))
  if [[ $failed_here -gt 0 ]]; then
    echo "$failed_here failed: $*" >>"$failures"
    # A test's line, and the first lines of its error: those of a property name its seed and the request that failed.
    sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -A 12 -E '^ *FAIL ' | cut -c 1-500 >>"$failures"
  fi
}

# Runs a command that either succeeds or fails, which counts as one. What it said last is printed once more at the end.
step() {
  begin "$@"
  "$@" 2>&1 | tee "$log"
  if [[ ${PIPESTATUS[0]} -eq 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $*" | tee -a "$failures"
    sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -v '^ *$' | tail -n 60 | cut -c 1-500 >>"$failures"
  fi
  finish "$@"
}

# Runs each file that failed by time limits alone once more. One that passes now is named as unstable, with what it said at first.
run_alone() {
  local line project file
  while IFS= read -r line; do
    project=$(jq -r .project <<<"$line")
    file=$(jq -r .file <<<"$line")
    begin "alone: $file"
    npm run test:alone -- --project="$project" "$file" </dev/null 2>&1 | tee "$log"
    local status=${PIPESTATUS[0]} before=$failed
    add_count "$status" "alone, too: $file"
    if [[ $failed -eq $before ]]; then
      printf 'unstable: %s\n%s\n' "$file" "$(jq -r .output <<<"$line" | cut -c 1-500 | head -n 40)" | tee -a "$failures"
    fi
    finish "alone: $file"
  done <"$later"
}

# A CI runs as root and gets the programs that tests need beside Node, and those that are named; anybody else is told by the tests what is
# missing.
install_programs() {
  local missing=() program
  for program in chromium curl jq kcat "$@"; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  command -v python3 >/dev/null && python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
  if [[ ${#missing[@]} -gt 0 && $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
    echo "==> apt-get install ${missing[*]}"
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
  fi
}

finish_run() {
  run_alone
  echo
  cat "$failures"
  echo "all of it took $((SECONDS / 60)) minutes"
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 ]]
}
