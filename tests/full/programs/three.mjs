// node three.mjs FBX JSON: what three.js reads of the scene of scene.py.
import { readFileSync, writeFileSync } from "node:fs";

globalThis.window = globalThis;
const { FBXLoader } = await import("three/examples/jsm/loaders/FBXLoader.js");

const [fbx, out] = process.argv.slice(2);
const bytes = readFileSync(fbx);
const scene = new FBXLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
const channels = { position: "T", quaternion: "R", scale: "S" };
const found = {};
for (const clip of scene.animations) {
    const nodes = (found[clip.name] = {});
    for (const track of clip.tracks) {
        const [node, property] = track.name.split(".");
        const size = track.values.length / track.times.length;
        const keys = Array.from(track.times, (time, i) => {
            const value = Array.from(track.values.slice(i * size, (i + 1) * size));
            return [time, ...(property === "quaternion" ? [value[3], value[0], value[1], value[2]] : value)];
        });
        (nodes[node] ??= {})[channels[property]] = keys;
    }
}
writeFileSync(out, JSON.stringify(found));
