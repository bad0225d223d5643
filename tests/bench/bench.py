"""Runs the benchmark's programs side by side and prints the ratios: bench.py PROGRAM KEYFERRY SETS JSON FOLDER"""
import json
import os
import subprocess
import sys

SETS = {"S": (50, 100, 9), "M": (200, 1000, 3), "L": (1000, 2000, 1)}  # nodes, keys a curve, rounds


def cpu(*words):
    """Least processor time of three runs, and the peak of memory in MB."""
    best, peak = float("inf"), 0.0
    for _ in range(3):
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit code {child.returncode}\n{said.decode()[-2000:]}")
        best, peak = min(best, used.ru_utime + used.ru_stime), max(peak, used.ru_maxrss / 1024)
    return best, peak


def command(keyferry, folder, fbx):
    """The whole command on an X4 file of that animation."""
    game, there, back = (os.path.join(folder, n) for n in ("game.ani", "there.fbx", "back.ani"))
    convert = [keyferry, "convert", "-y", "--jobs", "1"]
    subprocess.run([*convert, fbx, game, "--to", "x4-ani"], check=True, stderr=subprocess.DEVNULL)
    found = {"game_size": os.path.getsize(game)}
    found["command_there"], found["command_there_mb"] = cpu(*convert, game, there, "--no-capsule", "--no-sidecar")
    found["command_there_capsule"], _ = cpu(*convert, game, there)
    found["command_there_size"] = os.path.getsize(there)
    found["command_back_merged"], found["command_back_mb"] = cpu(*convert, there, back)
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
        results[name] = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
        if name == "M":
            results[name].update(command(keyferry, folder, fbx))
    small = os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "data", "x4-ani", "door.ani")
    results["start"] = {"info_small": cpu(keyferry, "info", small)[0]}
    with open(out, "w") as f:
        json.dump(results, f, indent=1)

    rows = []

    def ratio(goal, limit, least, top, bottom, sets="SML"):
        for name in names:
            r = results[name]
            if name in sets and top in r and bottom in r and r[bottom] > 0:
                value = r[top] / r[bottom]
                rows.append((goal, name, value, f"{'>=' if least else '<='} {limit:g}", (value >= limit) == least or value == limit))

    ratio("zlib level 1 alone / our whole write", 8, True, "zlib1", "write", "ML")
    ratio("size / zlib level 6 of the arrays", 1.1, False, "size", "zlib6_size", "ML")
    ratio("assimp's export / our write, linear keys", 10, True, "assimp_write", "write_linear")
    ratio("our read / ufbx alone", 1.4, False, "read", "ufbx_read")
    ratio("assimp's read / our read (linear and cubic)", 1, True, "assimp_read", "read")
    ratio("game file to FBX, command / write alone", 1.5, False, "command_there", "write")
    ratio("the same with capsule and sidecar", 1.5, False, "command_there_capsule", "write")
    ratio("FBX to game file, merged / ufbx alone", 3, False, "command_back_merged", "ufbx_read")
    ratio("ufbx_evaluate_curve / ours", 8, True, "ufbx_evaluate_ns", "evaluate_ns")
    for name in names:
        r = results[name]
        rows.append(("ns a sample, in order, cubic", name, r["evaluate_ns"], "<= 6", r["evaluate_ns"] <= 6))
        rows.append(("MB extra while writing", name, r["write_extra_mb"], "<= 8", r["write_extra_mb"] <= 8))
        rows.append(("memcpy of the arrays, GB/s", name, r["raw_bytes"] / r["memcpy"] / 1e9, "", True))
    for a, b, times in (("S", "M", 40), ("M", "L", 10)):
        if a in results and b in results:
            for what in ("write", "read"):
                value = results[b][what] / results[a][what]
                rows.append((f"{what}: {times} x the keys cost", a + b, value, f"<= {times * 1.1:g}", value <= times * 1.1))
    rows.append(("ms of keyferry info on a small file", "", results["start"]["info_small"] * 1e3, "<= 3",
                 results["start"]["info_small"] <= 0.003))
    print(f"{'':50} set    found  goal")
    for goal, name, value, limit, met in rows:
        print(f"{goal:50} {name:3} {value:8.2f}  {limit:8} {'' if met else 'MISSED'}")


main()
