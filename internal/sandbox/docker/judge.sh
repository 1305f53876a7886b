sed -n 's/^oom_kill /killed /p' /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events 2>/dev/null
used=$(cat /sys/fs/cgroup/memory/memory.max_usage_in_bytes 2>/dev/null)
most=$(cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null)
if [ -n "$used" ] && [ "$used" -ge $((most - 1048576)) ]; then echo reached 1; fi
sed -n 's/^oom /reached /p' /sys/fs/cgroup/memory.events 2>/dev/null
sed -n 's/^max /refused /p' /sys/fs/cgroup/pids/pids.events /sys/fs/cgroup/pids.events 2>/dev/null
df -k /dev/shm | awk 'NR == 2 { print "shm", $3 }'
