sed -n 's/^oom_kill /killed /p' /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events 2>/dev/null
sed -n 's/^max /refused /p' /sys/fs/cgroup/pids/pids.events /sys/fs/cgroup/pids.events 2>/dev/null
df -k /dev/shm | awk 'NR == 2 { print "shm", $3 }'
