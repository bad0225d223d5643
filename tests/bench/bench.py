"""Runs the benchmark's programs side by side and prints the ratios: bench.py PROGRAM KEYFERRY SETS JSON FOLDER"""
import json
import os
import subprocess
import struct
import sys
import tempfile
import time

SETS = {"S": (50, 100, 50), "M": (200, 1000, 9), "L": (1000, 2000, 5)}  # nodes, keys a curve, rounds


def cpu(*words, runs=3, output=None):
    """Least processor time of some runs, and the peak of memory in MB. Each run writes `output` anew: to throw an old file
    away is no part of the work."""
    best, peak = float("inf"), 0.0
    for _ in range(runs):
        if output and os.path.exists(output):
            os.remove(output)
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit code {child.returncode}\n{said.decode()[-2000:]}")
        best, peak = min(best, used.ru_utime + used.ru_stime), max(peak, used.ru_maxrss / 1024)
    return best, peak


def said(*words):
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def batch(keyferry, folder, count=10000, rounds=3):
    """A tree of small files there and back, on two cores and on one in turn: files a second, by the clock and by processor time,
    the best of some rounds. Nothing is deleted in between: a file system may be slow where it has just been."""
    tree = os.path.join(folder, "tree")
    with open(os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "data", "x4-ani", "turret.ani"), "rb") as f:
        data = bytearray(f.read())
    for i in range(count):
        if i % 100 == 0:
            os.makedirs(os.path.join(tree, f"{i // 100:03}"))
        struct.pack_into("<i", data, 12, i)  # padding: no two files are alike
        with open(os.path.join(tree, f"{i // 100:03}", f"{i:05}.ani"), "wb") as f:
            f.write(data)
    found = {"files": count, "bytes": len(data), "rounds": rounds}
    for turn, jobs in ((turn, jobs) for turn in range(rounds) for jobs in (2, 1)):
        there = f"{tree}-there{turn}{jobs}"
        for name, source, out, words in (("there", tree, there, ["--to", "fbx"]), ("back", there, f"{tree}-back{turn}{jobs}", [])):
            os.sync()  # what others wrote is not waited for by the batch, which ends with a sync of its own
            began, used = time.monotonic(), os.times()
            subprocess.run([keyferry, "convert", "--jobs", str(jobs), source, out + "/", *words], check=True,
                           stderr=subprocess.DEVNULL)
            took, now = time.monotonic() - began, os.times()
            spent = now.children_user + now.children_system - used.children_user - used.children_system
            for key, seconds in ((f"{name}{jobs}", took), (f"{name}{jobs}_cpu", spent)):
                found[key] = max(found.get(key, 0), count / seconds)
    return found


def cores(program, folder, rounds=5):
    """How much two processes that share nothing get done against one: what the machine's second core is worth."""
    took = {1: float("inf"), 2: float("inf")}
    for count in (1, 2) * rounds:
        began = time.monotonic()
        children = [subprocess.Popen([program, "50", "100", "10", os.path.join(folder, f"set{i}.fbx")], stdout=subprocess.DEVNULL)
                    for i in range(count)]
        if any(child.wait() for child in children):
            sys.exit("the benchmark's program failed")
        took[count] = min(took[count], time.monotonic() - began)
    return 2 * took[1] / took[2]


def command(keyferry, program, folder, fbx):
    """The whole command on an X4 file of that animation."""
    game, there, back = (os.path.join(folder, n) for n in ("game.ani", "there.fbx", "back.ani"))
    convert = [keyferry, "convert", "-y", "--jobs", "1"]
    subprocess.run([*convert, fbx, game, "--to", "x4-ani"], check=True, stderr=subprocess.DEVNULL)
    found = said(program, "game", game, "9")
    # The command makes a file, and so does the write that it is compared with.
    found["write_there"] = found["make_scene"] + found["write_game_file"]
    found["game_size"] = os.path.getsize(game)
    found["command_there"], found["command_there_mb"] = cpu(*convert, game, there, "--no-capsule", "--no-sidecar", runs=9,
                                                            output=there)
    found["command_there_size"] = os.path.getsize(there)
    found["command_back_merged"], found["command_back_mb"] = cpu(*convert, there, back, "--base", game, output=back)
    found["command_there_capsule"], _ = cpu(*convert, game, there, output=there)
    found["command_back_sidecar"], _ = cpu(*convert, there, back, output=back)
    with open(game, "rb") as a, open(back, "rb") as b:
        if a.read() != b.read():
            sys.exit("the game file did not come back as it was")
    found["command_info"], _ = cpu(keyferry, "info", game)
    return found


def main():
    program, keyferry, names, out, folder = sys.argv[1:]
    results = {}
    for name in names:
        nodes, keys, rounds = SETS[name]
        fbx, linear = os.path.join(folder, "set.fbx"), os.path.join(folder, "linear.fbx")
        words = [program, str(nodes), str(keys), str(rounds), fbx] + ([linear] if name != "L" else [])
        results[name] = said(*words)
        # What a process has read before has left it memory that is clear, the more of what it needs the smaller the set.
        results[name]["read_fresh"] = min(said(program, "read", fbx)["read"] for _ in range(rounds))
        results[name]["info"], results[name]["info_mb"] = cpu(keyferry, "info", fbx, runs=1 if name == "L" else 3)
        if name == "M":
            results[name].update(command(keyferry, program, folder, fbx))
        os.remove(fbx)
    results["decode"] = said(program, "decode", "5")
    results["cores"] = {"two_processes": cores(program, folder)}
    results["batch"] = batch(keyferry, folder)
    if os.path.isdir("/dev/shm"):  # the same where no disk is waited for
        with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
            results["batch in memory"] = batch(keyferry, memory)
    small = os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "data", "x4-ani", "door.ani")
    results["start"] = {"info_small": cpu(keyferry, "info", small)[0]}
    with open(out, "w") as f:
        json.dump(results, f, indent=1)

    rows = []

    def row(goal, name, value, limit=None, least=False):
        """limit None: told without a goal."""
        met = limit is None or (value >= limit if least else value <= limit)
        rows.append((goal, name, value, "" if limit is None else f"{'>=' if least else '<='} {limit:g}", met))

    def ratio(goal, limit, least, top, bottom, sets="SML"):
        for name in names:
            r = results[name]
            if name in sets and top in r and bottom in r and r[bottom] > 0:
                row(goal, name, r[top] / r[bottom], limit, least)

    ratio("zlib level 1 alone / our whole write", 8, True, "zlib1", "write", "ML")
    ratio("size / zlib level 6 of the arrays", 1.1, False, "size", "zlib6_size", "ML")
    ratio("assimp's export / our write, linear keys", 10, True, "assimp_write", "write_linear")
    ratio("our read / ufbx alone", 1.4, False, "read", "ufbx_read")
    ratio("assimp's read / our read (linear and cubic)", 1, True, "assimp_read", "read")
    ratio("game file to FBX, command / write alone", 1.5, False, "command_there", "write_there")
    ratio("the same, the write alone into memory", None, False, "command_there", "write_game")
    ratio("the same with capsule and sidecar", None, False, "command_there_capsule", "write_there")
    ratio("FBX to game file, merged / ufbx alone", 3, False, "command_back_merged", "ufbx_read")
    ratio("the same with the original in the sidecar", None, False, "command_back_sidecar", "ufbx_read")
    ratio("ufbx_evaluate_curve / ours, four samples a key", 8, True, "ufbx_evaluate_ns", "evaluate_ns")
    ratio("ufbx_evaluate_curve / ours, a bake at 30 fps", 8, True, "ufbx_bake", "bake", "M")
    ratio("the same between the keys", None, True, "ufbx_bake_between", "bake_between", "M")
    ratio("the same on the keys, and they are made for an FBX", None, True, "ufbx_bake", "bake_keys", "M")
    # What the machine allows: the keys only looked at; all that is not reading keys and handing them on.
    for name in names:
        r = results[name]
        if "assimp_write" in r:
            row("limit: assimp's export / the keys only looked at", name, r["assimp_write"] / r["look"])
        if name == "M":
            row("limit: ufbx_evaluate_curve / the keys only looked at", name, r["ufbx_bake"] / r["look"])
            least = r["read_game_file"] + r["write_game_file"]
            row("limit: file read, FBX written into a file", name, least / r["write_there"])
            row("limit: the same and memory for the keys", name, (least + r["touch"]) / r["write_there"])
    copied = 0.0
    for name in names:
        r = results[name]
        copied = r["raw_bytes"] / r["memcpy"] / 1e9
        row("ns a sample, in order, cubic", name, r["evaluate_ns"], 6)
        row("MB extra while writing", name, r["write_extra_mb"], 8)
        row("memcpy of the arrays, GB/s", name, copied)
    for name, value in results["decode"].items():
        if name.startswith("decode "):
            row(f"{name}, GB/s", "", value, min(2, 0.15 * copied), True)
        elif name.startswith("import "):
            row(f"{name} (keys made of it), GB/s", "", value)
    for a, b, times in (("S", "M", 40), ("M", "L", 10)):
        for what, key in (("write", "write_cold"), ("read", "read_fresh"), ("memory to read", "info_mb"),
                          ("write from caches", "write"), ("read again", "read")):
            # Only the small sets fit into caches, and into what a process keeps of its memory: that is told without a goal.
            goal = None if key in ("write", "read") else times * 1.1
            if a in results and b in results:
                row(f"{what}: {times} x the keys cost", a + b, results[b][key] / results[a][key], goal)
    row("ms of keyferry info on a small file", "", results["start"]["info_small"] * 1e3, 3)
    row("limit: two processes that share nothing against one", "", results["cores"]["two_processes"])
    for where in ("batch", "batch in memory"):
        r = results.get(where)
        for name in ("there", "back") if r else ():
            row(f"10,000 small files {name}{where[5:]}: a second on two cores", "", r[f"{name}2"], 3000, True)
            row("  a second of processor time, one thread", "", r[f"{name}1_cpu"])
            row("  two cores against one", "", r[f"{name}2"] / r[f"{name}1"], 1.8, True)
            row("  the same by processor time", "", 2 * r[f"{name}2_cpu"] / r[f"{name}1_cpu"])
    print(f"{'':58} set    found  goal")
    for goal, name, value, limit, met in rows:
        print(f"{goal:58} {name:3} {value:8.2f}  {limit:8} {'' if met else 'MISSED'}")


main()
