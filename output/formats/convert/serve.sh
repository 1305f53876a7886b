uid=${owner%%:*} gid=${owner#*:} limit=$deadline built=0 ended=
[ "$(id -u)" = 0 ] && [ "$uid" != 0 ] && [ "$uid" != "$tester" ] || exit 2
owned() { # DIR [NAME=VALUE…] COMMAND…, as the owner of the tree
  timeout -k 5 "$limit" setpriv --reuid="$uid" --regid="$gid" --clear-groups --inh-caps=-all --no-new-privs env -i -C "$@"
}
asking() { # the same as the tester
  timeout -k 5 "$limit" setpriv --reuid="$tester" --regid="$tester" --clear-groups --inh-caps=-all --no-new-privs env -i -C "$@"
}
end_owned() { # ends all processes of the owner at once, so that none can start another
  local n=0
  setpriv --reuid="$uid" --regid="$gid" --clear-groups bash -c 'kill -KILL -1' 2>/dev/null
  while [ "$n" -lt 200 ] && pgrep -r D,R,S,T -U "$uid" >/dev/null; do sleep 0.05; n=$((n + 1)); done
}
clear_passing() { # what no state keeps
  find "${passing[@]}" -xdev -mindepth 1 -user "$uid" ! -path "$work/*" -delete 2>/dev/null
}
mark() { # a file that was changed before this has an earlier time, and one that is changed later a later one
  sleep 0.05; touch "$work/private/mark"; sleep 0.05
}
fresh() { # the state that the build has left
  local dir n=0
  for dir in "${kept[@]}"; do
    n=$((n + 1))
    if [ -n "$(find "$dir" -cnewer "$work/private/mark" -print -quit)" ]; then
      find "$dir" -mindepth 1 -delete && cp -a "$work/private/$n/." "$dir" || return
    fi
  done
  clear_passing
  mark
}
build() {
  local dir n=0
  end_owned
  clear_passing
  owned "$@" </dev/null >"$work/log" 2>&1; built=$?
  end_owned
  for dir in "${kept[@]}"; do
    n=$((n + 1))
    cp -a "$dir" "$work/private/$n" || return
  done
  mark
}
ask() { # NUMBER DIR [NAME=VALUE…] COMMAND…: one process of the tester, with a service of its own
  local number=$1 code
  shift
  limit=$((deadline - SECONDS))
  [ "$built" = 0 ] && [ -z "$ended" ] && [ "$limit" -gt 0 ] || return
  fresh || exit 2
  rm -f "$work/private/ended"
  { serve; echo "$?" >"$work/private/ended"; end_owned; } </dev/null 2>&1 | tail -c 65536 >"$work/private/service" &
  asking "$@" </dev/null >"$work/private/tester" 2>&1; code=$?
  # What ended before it answered answers nobody: the others would each wait for it.
  if [ "$number" = 0 ] && [ "$code" != 0 ] && [ -e "$work/private/ended" ]; then ended=1; fi
  end_owned
  while kill -0 "$!" 2>/dev/null; do end_owned; done # one that was only about to be the owner's
  wait
  echo "$code" >"$work/private/code.$number"
  [ "$code" = 0 ] || rc=1
  { tail -c 65536 "$work/private/tester"; echo '--- service ---'; cat "$work/private/service"; } >>"$work/log"
}
