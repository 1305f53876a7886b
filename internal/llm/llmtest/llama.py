# A llama.cpp server over one model until it is ended: llama.py MODEL PORT KEY
import sys
import time

import xllamacpp

p = xllamacpp.CommonParams()
p.model.path = sys.argv[1]
p.hostnames = ["127.0.0.1"]
p.port = int(sys.argv[2])
p.api_keys = [sys.argv[3]]
p.n_ctx = 32768  # one token is one byte here
p.n_parallel = 2
p.cpuparams.n_threads = 1
p.warmup = False
server = xllamacpp.Server(p)
print("up", flush=True)
time.sleep(600)
