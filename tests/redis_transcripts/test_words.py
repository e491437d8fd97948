"""Each word and key of a fence's header: a page on which it lets a block pass, and one on which it lets it fail.

All pages are run at once; each case below is one of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

from redis_transcripts import server

type Case = tuple[str, Mapping[str, str]]
"""A page, and of each of its tests ``passed``, why it was skipped or expected to fail, or the text of its failure."""

SERVER = str(server.find(None))
OTHER_PRODUCT = "valkey" if SERVER.startswith("Redis") else "redis"

# A reader who installed this project has Python and redis-py, and perhaps no redis-cli.
INCREMENT = """python -c "import os, redis; print(redis.Redis.from_url(os.environ['REDIS_URL']).incr('counter'))\""""

type Check = Callable[[str, str], None]

RECORDER = """\
import json, pathlib

found = {}

def pytest_runtest_logreport(report):
    page, _, name = report.nodeid.partition("::")
    names = found.setdefault(page, {})
    if hasattr(report, "wasxfail"):
        names[name] = f"failed as expected: {report.wasxfail}"
    elif report.skipped:
        names[name] = report.longrepr[2]
    elif report.failed:
        names[name] = str(report.longrepr)
    elif report.when == "call":
        names[name] = "passed"

def pytest_sessionfinish():
    pathlib.Path("found.json").write_text(json.dumps(found))
"""


def differs(line: int, asked: str, diff: str, by: str = "{server}") -> str:
    """Return the text of a failure at that line of the page; ``diff`` leads from the shown lines to the real ones."""
    return f"docs/{{page}}.md:{line}: {by} answers otherwise\n{asked}\n--- shown\n+++ received\n{diff}"


FILL = """\
```redis { title="fill" }
> SADD tiers low mid high
(integer) 3
> HSET job id 7 tier 3 name mail
(integer) 3
> ZADD waiting 1 job:8 1 job:10 2 job:9
(integer) 3
```

"""

UNORDERED: dict[str, Case] = {
    "a set in any order": (
        FILL + '```redis { title="set" unordered }\n> SMEMBERS tiers\n1) "low"\n2) "high"\n3) "mid"\n```\n\n'
        '```redis { title="set again" unordered }\n> SMEMBERS tiers\n1) "mid"\n2) "low"\n3) "high"\n```\n',
        {"redis[fill]": "passed", "redis[set]": "passed", "redis[set again]": "passed"},
    ),
    "the fields of a hash with their values": (
        FILL + '```redis { title="hash" unordered }\n> HGETALL job\n'
        '1) "name"\n2) "mail"\n3) "id"\n4) "7"\n5) "tier"\n6) "3"\n```\n',
        {"redis[fill]": "passed", "redis[hash]": "passed"},
    ),
    "members with their scores": (
        FILL + '```redis { title="scores" unordered }\n> ZRANGE waiting 0 -1 WITHSCORES\n'
        '1) "job:9"\n2) "2"\n3) "job:8"\n4) "1"\n5) "job:10"\n6) "1"\n```\n',
        {"redis[fill]": "passed", "redis[scores]": "passed"},
    ),
    "popped members with their scores": (
        FILL
        + '```redis { title="pop" unordered }\n> ZPOPMIN waiting 2\n1) "job:8"\n2) "1"\n3) "job:10"\n4) "1"\n```\n',
        {"redis[fill]": "passed", "redis[pop]": "passed"},
    ),
    "a map of RESP3": (
        FILL + '```redis { title="map" unordered resp=3 }\n> HGETALL job\n'
        '1# "tier" => "3"\n2# "id" => "7"\n3# "name" => "mail"\n```\n',
        {"redis[fill]": "passed", "redis[map]": "passed"},
    ),
    "pairs of RESP3, whose order counts inside": (
        FILL + '```redis { title="pairs" unordered resp=3 }\n> ZRANGE waiting 0 -1 WITHSCORES\n'
        '1) 1) "job:9"\n   2) (double) 2\n2) 1) "job:8"\n   2) (double) 1\n3) 1) "job:10"\n   2) (double) 1\n```\n',
        {"redis[fill]": "passed", "redis[pairs]": "passed"},
    ),
    "arrays in an array": (
        '```redis { title="adds" }\n> XADD log 1-1 a b\n"1-1"\n> XADD log 2-1 c d\n"2-1"\n```\n\n'
        '```redis { title="nested" unordered }\n> XRANGE log - +\n'
        '1) 1) "2-1"\n   2) 1) "c"\n      2) "d"\n2) 1) "1-1"\n   2) 1) "a"\n      2) "b"\n```\n',
        {"redis[adds]": "passed", "redis[nested]": "passed"},
    ),
    "a reply that is no array": (
        '```redis { title="one" unordered }\n> PING\nPONG\n```\n',
        {"redis[one]": "passed"},
    ),
    "a dropped line": (
        FILL + '```redis { title="set" unordered }\n> SMEMBERS tiers\n1) "low"\n2) "high"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[set]": differs(11, "> SMEMBERS tiers", '@@ -1,2 +1,3 @@\n 1) "low"\n 2) "high"\n+3) "mid"'),
        },
    ),
    "a doubled line": (
        FILL + '```redis { title="set" unordered }\n> SMEMBERS tiers\n1) "low"\n2) "mid"\n3) "low"\n4) "high"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[set]": differs(
                14, "> SMEMBERS tiers", '@@ -1,4 +1,3 @@\n 1) "low"\n 2) "mid"\n-3) "low"\n-4) "high"\n+3) "high"'
            ),
        },
    ),
    "a changed line": (
        FILL + '```redis { title="set" unordered }\n> SMEMBERS tiers\n1) "low"\n2) "middle"\n3) "high"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[set]": differs(
                13, "> SMEMBERS tiers", '@@ -1,3 +1,3 @@\n 1) "low"\n-2) "middle"\n+2) "mid"\n 3) "high"'
            ),
        },
    ),
    "wrong numbers": (
        FILL + '```redis { title="set" unordered }\n> SMEMBERS tiers\n1) "low"\n3) "mid"\n2) "high"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[set]": differs(
                11, "> SMEMBERS tiers", '@@ -1,3 +1,3 @@\n 1) "low"\n-3) "mid"\n-2) "high"\n+2) "mid"\n+3) "high"'
            ),
        },
    ),
    "values of two fields swapped": (
        FILL + '```redis { title="hash" unordered }\n> HGETALL job\n'
        '1) "name"\n2) "mail"\n3) "id"\n4) "3"\n5) "tier"\n6) "7"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[hash]": differs(
                14,
                "> HGETALL job",
                '@@ -1,6 +1,6 @@\n 1) "name"\n 2) "mail"\n 3) "id"\n-4) "3"\n+4) "7"\n 5) "tier"\n-6) "7"\n+6) "3"',
            ),
        },
    ),
    "scores of two members swapped": (
        FILL + '```redis { title="scores" unordered }\n> ZRANGE waiting 0 -1 WITHSCORES\n'
        '1) "job:9"\n2) "1"\n3) "job:8"\n4) "2"\n5) "job:10"\n6) "1"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[scores]": differs(
                12,
                "> ZRANGE waiting 0 -1 WITHSCORES",
                '@@ -1,6 +1,6 @@\n-1) "job:9"\n+1) "job:8"\n 2) "1"\n'
                '-3) "job:8"\n+3) "job:9"\n 4) "2"\n 5) "job:10"\n 6) "1"',
            ),
        },
    ),
    "scores of two popped members swapped": (
        FILL + '```redis { title="pop" unordered }\n> ZPOPMAX waiting 2\n1) "job:9"\n2) "1"\n3) "job:8"\n4) "2"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[pop]": differs(
                12,
                "> ZPOPMAX waiting 2",
                '@@ -1,4 +1,4 @@\n 1) "job:9"\n-2) "1"\n+2) "2"\n 3) "job:8"\n-4) "2"\n+4) "1"',
            ),
        },
    ),
    "values of a map swapped": (
        FILL + '```redis { title="map" unordered resp=3 }\n> HGETALL job\n'
        '1# "tier" => "7"\n2# "id" => "3"\n3# "name" => "mail"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[map]": differs(
                12,
                "> HGETALL job",
                '@@ -1,3 +1,3 @@\n-1# "tier" => "7"\n-2# "id" => "3"\n'
                '+1# "id" => "7"\n+2# "tier" => "3"\n 3# "name" => "mail"',
            ),
        },
    ),
    "another order without the word": (
        FILL + '```redis { title="ordered" }\n> ZRANGE waiting 0 -1\n1) "job:8"\n2) "job:10"\n3) "job:9"\n```\n',
        {
            "redis[fill]": "passed",
            "redis[ordered]": differs(
                12,
                "> ZRANGE waiting 0 -1",
                '@@ -1,3 +1,3 @@\n-1) "job:8"\n-2) "job:10"\n+1) "job:10"\n+2) "job:8"\n 3) "job:9"',
            ),
        },
    ),
}

STREAM_ID = '> XADD events * job 7\n"17...\n'
VARIES: dict[str, Case] = {
    "an id": (
        f'```redis {{ title="x" varies="id" }}\n{STREAM_ID}```\n',
        {"redis[x]": "passed"},
    ),
    "a time": (
        '```redis { title="x" varies="time" }\n> TIME\n1) "...\n2) "...\n```\n',
        {"redis[x]": "passed"},
    ),
    "what is left of a time to live": (
        '```redis { title="x" varies="ttl" }\n> SET lock 7 PX 60000\nOK\n> PTTL lock\n(integer) ...\n```\n',
        {"redis[x]": "passed"},
    ),
    "memory": (
        '```redis { title="x" varies="memory" }\n> SET key value\nOK\n> MEMORY USAGE key\n(integer) ...\n```\n',
        {"redis[x]": "passed"},
    ),
    "two things that vary": (
        f'```redis {{ title="x" varies="id, time" }}\n{STREAM_ID}> TIME\n1) "...\n2) "...\n```\n',
        {"redis[x]": "passed"},
    ),
    "printed lines": (
        '```python { title="x" varies="time" }\nimport time\n\nprint("It is", time.time())\nprint("done")\n```\n\n'
        "```output\nIt is 1...\ndone\n```\n",
        {"python[x]": "passed"},
    ),
    "the beginning of a line": (
        '```redis { title="x" varies="id" }\n> ECHO job:17\n"event:...\n```\n',
        {
            "redis[x]": differs(3, "> ECHO job:17", '@@ -1 +1 @@\n-"event:...\n+"job:17"'),
        },
    ),
    "nothing behind the beginning": (
        '```redis { title="x" varies="memory" }\n> PING\nPONG...\n```\n',
        {"redis[x]": differs(3, "> PING", "@@ -1 +1 @@\n-PONG...\n+PONG")},
    ),
    "a line without dots": (
        '```redis { title="x" varies="time" }\n> TIME\n1) "...\n2) "...\n> ECHO a\n"b"\n```\n',
        {
            "redis[x]": differs(6, "> ECHO a", '@@ -1 +1 @@\n-"b"\n+"a"'),
        },
    ),
    "the number of lines": (
        '```redis { title="x" varies="id" }\n> RPUSH jobs 17 18\n(integer) 2\n> LRANGE jobs 0 -1\n1) "...\n```\n',
        {
            "redis[x]": differs(4, "> LRANGE jobs 0 -1", '@@ -1 +1,2 @@\n 1) "...\n+2) "18"'),
        },
    ),
    "dots without the key": (
        '```redis { title="true" }\n> ECHO ...\n"..."\n```\n\n```redis { title="false" }\n> ECHO job\n"j...\n```\n',
        {
            "redis[true]": "passed",
            "redis[false]": differs(8, "> ECHO job", '@@ -1 +1 @@\n-"j...\n+"job"'),
        },
    ),
}

NAMES: dict[str, Case] = {
    "a title": (
        '```redis { title="Two members tie" }\n> PING\nPONG\n```\n\n```redis\n> ECHO a\n"a"\n```\n\n'
        '```python { title="In Python" }\npass\n```\n\n```console { title="In a shell" }\n$ true\n```\n\n'
        '```lua { title="In Lua" }\nreturn 1\n```\n\n```reply\n(integer) 1\n```\n',
        {
            "redis[Two members tie]": "passed",
            "redis[ECHO a]": "passed",
            "python[In Python]": "passed",
            "console[In a shell]": "passed",
            "lua[In Lua]": "passed",
        },
    ),
    "lines drawn otherwise": (
        '```redis { title="x" hl_lines="2" }\n> ECHO a\n"a"\n```\n\n'
        '```redis { title="y" hl_lines="2" }\n> PING\nPANG\n```\n',
        {
            "redis[x]": "passed",
            "redis[y]": differs(8, "> PING", "@@ -1 +1 @@\n-PANG\n+PONG"),
        },
    ),
    "code that misleads": (
        '```redis { title="x" wrong="10 sorts before 8" }\n> ZADD waiting 1 10 1 8\n(integer) 2\n'
        '> ZRANGE waiting 0 -1\n1) "10"\n2) "8"\n```\n\n'
        '```redis { title="y" wrong="10 sorts before 8" }\n> ZRANGE waiting 0 -1\n1) "8"\n2) "10"\n```\n',
        {
            "redis[x]": "passed",
            "redis[y]": differs(11, "> ZRANGE waiting 0 -1", '@@ -1,2 +1,2 @@\n-1) "8"\n-2) "10"\n+1) "10"\n+2) "8"'),
        },
    ),
}

STATES: dict[str, Case] = {
    "an empty server": (
        '```redis { title="fill" }\n> SET counter 6\nOK\n```\n\n'
        '```redis { title="goes on" }\n> INCR counter\n(integer) 7\n```\n\n'
        '```redis { title="anew" fresh }\n> INCR counter\n(integer) 1\n```\n\n'
        '```redis { title="not anew" fresh }\n> INCR counter\n(integer) 2\n```\n',
        {
            "redis[fill]": "passed",
            "redis[goes on]": "passed",
            "redis[anew]": "passed",
            "redis[not anew]": differs(18, "> INCR counter", "@@ -1 +1 @@\n-(integer) 2\n+(integer) 1"),
        },
    ),
    "an empty server for code": (
        '```python { title="fill" }\nimport os\n\nimport redis\n\n'
        'r = redis.Redis.from_url(os.environ["REDIS_URL"])\nprint(r.incr("counter"))\n```\n\n```output\n1\n```\n\n'
        '```lua { title="goes on" keys="counter" }\nreturn redis.call("INCR", KEYS[1])\n```\n\n'
        "```reply\n(integer) 2\n```\n\n"
        '```python { title="anew" fresh }\nprint(r.incr("counter"))\n```\n\n```output\n1\n```\n\n'
        '```lua { title="lua anew" keys="counter" fresh }\nreturn redis.call("INCR", KEYS[1])\n```\n\n'
        "```reply\n(integer) 1\n```\n",
        {"python[fill]": "passed", "lua[goes on]": "passed", "python[anew]": "passed", "lua[lua anew]": "passed"},
    ),
    "a protocol": (
        '```redis { title="two" }\n> HSET job id 7\n(integer) 1\n> HGETALL job\n1) "id"\n2) "7"\n```\n\n'
        '```redis { title="three" resp=3 }\n> HGETALL job\n1# "id" => "7"\n```\n\n'
        '```redis { title="not three" resp=2 }\n> HGETALL job\n1# "id" => "7"\n```\n\n'
        '```lua { title="script" keys="job" resp=3 }\n'
        'redis.setresp(3)\nreturn redis.call("HGETALL", KEYS[1])\n```\n\n```reply\n1# "id" => "7"\n```\n',
        {
            "redis[two]": "passed",
            "redis[three]": "passed",
            "redis[not three]": differs(16, "> HGETALL job", '@@ -1 +1,2 @@\n-1# "id" => "7"\n+1) "id"\n+2) "7"'),
            "lua[script]": "passed",
        },
    ),
    "a second connection": (
        '```redis { title="mine" }\n> CLIENT SETNAME first\nOK\n```\n\n'
        '```redis { title="second" client="b" }\n> CLIENT GETNAME\n(nil)\n```\n\n'
        '```redis { title="second named" client="b" }\n> CLIENT SETNAME second\nOK\n```\n\n'
        '```redis { title="mine again" }\n> CLIENT GETNAME\n"first"\n```\n\n'
        '```redis { title="not the second" }\n> CLIENT GETNAME\n"second"\n```\n',
        {
            "redis[mine]": "passed",
            "redis[second]": "passed",
            "redis[second named]": "passed",
            "redis[mine again]": "passed",
            "redis[not the second]": differs(23, "> CLIENT GETNAME", '@@ -1 +1 @@\n-"second"\n+"first"'),
        },
    ),
    "keys and arguments": (
        '```lua { title="words" keys="a \'b c\'" argv="1 \'two words\' \\x41" }\n'
        "return {#KEYS, KEYS[2], #ARGV, ARGV[2], ARGV[3]}\n```\n\n"
        '```reply\n1) (integer) 2\n2) "b c"\n3) (integer) 3\n4) "two words"\n5) "\\\\x41"\n```\n\n'
        '```lua { title="none" keys="" }\nreturn #KEYS + #ARGV\n```\n\n```reply\n(integer) 1\n```\n',
        {
            "lua[words]": "passed",
            "lua[none]": differs(18, "EVAL none", "@@ -1 +1 @@\n-(integer) 1\n+(integer) 0"),
        },
    ),
}

CONDITIONS: dict[str, Case] = {
    "a version that this server has": (
        '```redis { title="x" requires="redis>=6.2 valkey>=7" }\n> PING\nPONG\n```\n\n'
        '```redis { title="y" requires="valkey redis" }\n> PING\nPANG\n```\n',
        {
            "redis[x]": "passed",
            "redis[y]": differs(8, "> PING", "@@ -1 +1 @@\n-PANG\n+PONG"),
        },
    ),
    "a version that it has not": (
        '```redis { title="sets" }\n> SET counter 1\nOK\n```\n\n'
        '```redis { title="x" requires="redis>=99 valkey>=99" }\n> INCR counter\n(integer) 99\n```\n\n'
        '```redis { title="sees" }\n> GET counter\n"1"\n```\n\n'
        '```python { title="p" requires="redis<6.2,>=6.1 valkey==1.*" }\nraise SystemError\n```\n\n'
        '```console { title="c" requires="redis<1" }\n$ false\nno\n```\n\n'
        '```lua { title="l" requires="{other}>=1" }\nreturn 1\n```\n\n```reply\n(integer) 2\n```\n',
        {
            "redis[sets]": "passed",
            "redis[x]": "Skipped: requires redis>=99 valkey>=99; this is {server}",
            "redis[sees]": "passed",
            "python[p]": "Skipped: requires redis<6.2,>=6.1 valkey==1.*; this is {server}",
            "console[c]": "Skipped: requires redis<1; this is {server}",
            "lua[l]": "Skipped: requires {other}>=1; this is {server}",
        },
    ),
    "a fault that is there": (
        '```redis { title="x" xfail="PING is misspelt" }\n> PING\nPANG\n```\n\n'
        '```python { title="y" xfail="it raises" }\nraise ValueError\n```\n\n'
        '```lua { title="z" xfail="one is two" }\nreturn 1\n```\n\n```reply\n(integer) 2\n```\n\n'
        '```console { title="a" xfail="a is b" }\n$ echo a\nb\n```\n',
        {
            "redis[x]": "failed as expected: PING is misspelt",
            "python[y]": "failed as expected: it raises",
            "lua[z]": "failed as expected: one is two",
            "console[a]": "failed as expected: a is b",
        },
    ),
    "a fault that is mended": (
        '```redis { title="x" xfail="PING is misspelt" }\n> PING\nPONG\n```\n\n'
        '```python { title="y" xfail="it raises" }\npass\n```\n',
        {
            "redis[x]": "docs/{page}.md:1: true by now, though expected to fail (PING is misspelt); delete its xfail",
            "python[y]": "docs/{page}.md:6: true by now, though expected to fail (it raises); delete its xfail",
        },
    ),
}

SHELL: dict[str, Case] = {
    "commands of a shell": (
        '```console { title="x" }\n$ ' + INCREMENT + "\n1\n$ ls\n$ echo $((40 + 2))\n42\n```\n\n"
        '```redis { title="sees" }\n> GET counter\n"1"\n```\n\n'
        '```console { title="y" }\n$ echo a\na\n$ echo b\nc\n```\n\n'
        '```console { title="z" varies="time" }\n$ date +%s\n1...\n$ echo b\n...\n```\n',
        {
            "console[x]": "passed",
            "redis[sees]": "passed",
            "console[y]": differs(18, "$ echo b", "@@ -1 +1 @@\n-c\n+b", by="the shell"),
            "console[z]": "passed",
        },
    ),
    "commands that are shown alone": (
        '```console { title="x" static="it installs a package" }\n$ false\nno such output\n```\n\n'
        '```console { title="y" }\n$ false\nno such output\n```\n\n'
        '```text { static="a sketch" }\ntier | counter\n```\n\n'
        '```javascript { title="one line of Node" static="no Node here" }\nawait queue.add(1);\n```\n',
        {
            "console[y]": differs(8, "$ false", "@@ -1 +0,0 @@\n-no such output", by="the shell"),
        },
    ),
}

CLUSTER: dict[str, Case] = {
    "three masters": (
        '```redis { title="one slot" cluster }\n> SET {jobs}:a 1\nOK\n> MGET {jobs}:a {jobs}:b\n1) "1"\n2) (nil)\n'
        "> MGET jobs:a jobs:b\n(error) CROSSSLOT Keys in request don't hash to the same slot\n```\n\n"
        '```lua { title="script" cluster keys="{jobs}:a" }\nreturn redis.call("GET", KEYS[1])\n```\n\n'
        '```reply\n"1"\n```\n\n'
        '```redis { title="alone" }\n> DBSIZE\n(integer) 0\n```\n\n'
        '```python { title="client" cluster }\nimport os\n\nimport redis\n\n'
        'r = redis.RedisCluster.from_url(os.environ["REDIS_URL"])\n'
        "print(len(r.get_primaries()), r.get(\"{jobs}:a\"))\n```\n\n```output\n3 b'1'\n```\n\n"
        '```redis { title="anew" cluster fresh }\n> GET {jobs}:a\n(nil)\n```\n\n'
        '```redis { title="false" cluster }\n> GET {jobs}:a\n"1"\n```\n',
        {
            "redis[one slot]": "passed",
            "lua[script]": "passed",
            "redis[alone]": "passed",
            "python[client]": "passed",
            "redis[anew]": "passed",
            "redis[false]": differs(44, "> GET {jobs}:a", '@@ -1 +1 @@\n-"1"\n+(nil)'),
        },
    ),
    "the next page": (
        '```redis { title="empty" cluster }\n> SET {jobs}:a 2 NX\nOK\n```\n',
        {"redis[empty]": "passed"},
    ),
}

LOST_CLUSTER = """\
```redis { title="before" cluster }
> PING
PONG
```

```python { title="disturbs" cluster }
import os

import redis

r = redis.RedisCluster.from_url(os.environ["REDIS_URL"])
for node in r.get_primaries():
    r.get_redis_connection(node).client_kill_filter(_type="normal", skipme=True)
```

```redis { title="lost" cluster }
> PING
PONG
```

```redis { title="after" }
> PING
PONG
```
"""

TABLES = {
    "cluster": CLUSTER,
    "unordered": UNORDERED,
    "varies": VARIES,
    "names": NAMES,
    "states": STATES,
    "conditions": CONDITIONS,
    "shell": SHELL,
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, str]]:
    """Of each page, by the path from which pytest names it, what became of its tests."""
    project = tmp_path_factory.mktemp("words")
    (project / "docs").mkdir()
    (project / "pytest.ini").write_text("[pytest]\naddopts = -p no:valkey\nredis_pages = docs\n")
    (project / "docs/cluster-lost.md").write_text(LOST_CLUSTER)
    (project / "docs/cluster-next.md").write_text('```redis { title="next" cluster }\n> PING\nPONG\n```\n')
    (project / "conftest.py").write_text(RECORDER)
    for table, cases in TABLES.items():
        for number, (page, _) in enumerate(cases.values()):
            (project / f"docs/{table}-{number}.md").write_text(page.replace("{other}", OTHER_PRODUCT))
    environment = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "PYTEST_ADDOPTS")}
    subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=project, env=environment, check=False, timeout=120)
    found: Mapping[str, Mapping[str, str]] = json.loads((project / "found.json").read_text())
    return found


@pytest.fixture
def check(outcomes: Mapping[str, Mapping[str, str]]) -> Check:
    """Compares what became of the tests of a page in a table with what the table says."""

    def compare(table: str, case: str) -> None:
        number = list(TABLES[table]).index(case)
        page = f"{table}-{number}"
        expected = {
            name: text.replace("{page}", page).replace("{server}", SERVER).replace("{other}", OTHER_PRODUCT)
            for name, text in TABLES[table][case][1].items()
        }
        assert outcomes[f"docs/{page}.md"] == expected

    return compare


@pytest.mark.parametrize("case", NAMES)
def test_what_names_and_draws_a_block_changes_nothing_of_its_check(case: str, check: Check) -> None:
    check("names", case)


@pytest.mark.parametrize("case", UNORDERED)
def test_unordered_forgives_another_order_and_nothing_else(case: str, check: Check) -> None:
    check("unordered", case)


@pytest.mark.parametrize("case", VARIES)
def test_varies_forgives_the_rest_of_a_line_and_nothing_else(case: str, check: Check) -> None:
    check("varies", case)


@pytest.mark.parametrize("case", STATES)
def test_a_block_starts_from_the_state_that_its_header_says(case: str, check: Check) -> None:
    check("states", case)


@pytest.mark.parametrize("case", CONDITIONS)
def test_a_block_is_run_or_expected_to_be_true_where_its_header_says(case: str, check: Check) -> None:
    check("conditions", case)


@pytest.mark.parametrize("case", SHELL)
def test_console_blocks_are_run_and_those_with_static_are_not(case: str, check: Check) -> None:
    check("shell", case)


@pytest.mark.parametrize("case", CLUSTER)
def test_cluster_runs_a_block_on_three_masters(case: str, check: Check) -> None:
    check("cluster", case)


def test_a_cluster_that_gives_no_reply_ends_the_page_and_not_the_next(
    outcomes: Mapping[str, Mapping[str, str]],
) -> None:
    assert outcomes["docs/cluster-next.md"] == {"redis[next]": "passed"}
    lost = outcomes["docs/cluster-lost.md"]["redis[lost]"]
    assert lost.startswith("docs/cluster-lost.md:17: no reply: ")
    assert lost.endswith("\n> PING")
    assert outcomes["docs/cluster-lost.md"] == {
        "redis[before]": "passed",
        "python[disturbs]": "passed",
        "redis[lost]": lost,
        "redis[after]": f"docs/cluster-lost.md:21: not run, since the session is lost\n{lost}",
    }
