// node three.mjs FBX...: what three.js reads of each, as FBX.three: {"|nodes": [name], take: {node: {channel: [[time, value...]]}}},
// or {"|error": what it said}.
import { readFileSync, writeFileSync } from "node:fs";

globalThis.window = globalThis;
const { FBXLoader } = await import("three/examples/jsm/loaders/FBXLoader.js");
const channels = { position: "T", quaternion: "R", scale: "S" };

function read(fbx) {
    const bytes = readFileSync(fbx);
    const scene = new FBXLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
    const names = {}; // it takes some signs out of names, and remembers how they were
    scene.traverse((node) => (names[node.name] = node.userData.originalName ?? node.name));
    const found = { "|nodes": Object.values(names) };
    for (const clip of scene.animations) {
        const nodes = (found[clip.name] = {});
        for (const track of clip.tracks) {
            const dot = track.name.lastIndexOf(".");
            const [node, property] = [names[track.name.slice(0, dot)], track.name.slice(dot + 1)];
            const size = track.values.length / track.times.length;
            const keys = Array.from(track.times, (time, i) => {
                const value = Array.from(track.values.slice(i * size, (i + 1) * size));
                return [time, ...(property === "quaternion" ? [value[3], value[0], value[1], value[2]] : value)];
            });
            (nodes[node] ??= {})[channels[property] ?? property] = keys;
        }
    }
    return found;
}

for (const fbx of process.argv.slice(2)) {
    let found;
    try {
        found = read(fbx);
    } catch (error) {
        found = { "|error": error.stack };
    }
    writeFileSync(fbx + ".three", JSON.stringify(found));
}
