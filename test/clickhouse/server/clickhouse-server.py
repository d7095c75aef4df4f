"""A ClickHouse server, which is the clickhouse-local of a library that listens for requests.

clickhouse-server.py LIBRARY FOLDER [ARGUMENT...]

LIBRARY is libchdb, of the package chdb. The arguments are those of clickhouse-local, such as --http_port=PORT and --config-file=FILE; with
--tcp_port=PORT the native protocol is spoken, too. The first line of standard output is the number of the server's process, which takes
requests once GET /ping is answered. With the end of standard input the server is killed, and FOLDER removed. A server that ends by itself,
or is killed by somebody else, leaves the folder, on which it can be started again.

Python starts it because ClickHouse refuses to run on the small stacks on which Node's libraries make such calls.
"""

import ctypes
import os
import shutil
import signal
import sys

# As long as this statement runs, clickhouse-local does not end.
FOREVER = (
    "SELECT sleepEachRow(3) FROM numbers(1000000000) FORMAT Null "
    "SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0, log_comment = 'clickhouse-server.py'"
)


def serve(library, folder, arguments):
    protocols = ["HTTP"] + (["TCP"] if any(argument.startswith("--tcp_port") for argument in arguments) else [])
    query = "; ".join([f"SYSTEM START LISTEN {protocol}" for protocol in protocols] + [FOREVER])
    line = ["clickhouse", "--path", os.path.join(folder, "store"), "--listen_host", "127.0.0.1", *arguments, "--query", query]
    chdb = ctypes.CDLL(library)
    chdb.chdb_query_cmdline.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    chdb.chdb_query_cmdline.restype = ctypes.c_void_p
    chdb.chdb_result_error.argtypes = [ctypes.c_void_p]
    chdb.chdb_result_error.restype = ctypes.c_char_p
    result = chdb.chdb_query_cmdline(len(line), (ctypes.c_char_p * len(line))(*[text.encode() for text in line]))
    error = chdb.chdb_result_error(result) if result else None
    sys.exit(f"ClickHouse has ended: {error.decode() if error else 'it tells no error, as where its configuration is wrong'}")


def main(library, folder, *arguments):
    server = os.fork()
    if server == 0:
        serve(library, folder, arguments)
    # The process that waits ends with the one that serves.
    signal.signal(signal.SIGCHLD, lambda *_: sys.exit(1))
    print(server, flush=True)
    sys.stdin.buffer.read()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    shutil.rmtree(folder)


main(*sys.argv[1:])
