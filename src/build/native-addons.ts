/**
 * Rewrites the packages with native addons to use `loadNative`, so that the executable loads the addons from the data
 * folder, and only when they are used: importing a package loads nothing. A rewrite fails the build when the package's
 * source has changed.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

type Rewrite = { filter: RegExp; change: (source: string, path: string) => string };

const LIBSQL = "libsql.node";
const ONNX = "onnxruntime_binding.node";
/** Path in a separate folder, because sherpa-onnx comes with another version of ONNX Runtime. */
const SHERPA = "sherpa/sherpa-onnx.node";

/**
 * Lists the addon files for this platform. `name` is the path in the `native` folder of the assets. Throws when one is
 * not installed.
 */
export function listNativeFiles(project: string): { name: string; path: string }[] {
  const onnx = `node_modules/onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}`;
  const sherpa = `node_modules/sherpa-onnx-${process.platform}-${process.arch}`;
  const files = [
    { name: LIBSQL, path: `node_modules/@libsql/${process.platform}-${process.arch}-gnu/index.node` },
    { name: ONNX, path: `${onnx}/onnxruntime_binding.node` },
    // The addons find these libraries through their run path, which is their own folder.
    { name: "libonnxruntime.so.1", path: `${onnx}/libonnxruntime.so.1` },
    { name: SHERPA, path: `${sherpa}/sherpa-onnx.node` },
    { name: "sherpa/libsherpa-onnx-c-api.so", path: `${sherpa}/libsherpa-onnx-c-api.so` },
    { name: "sherpa/libonnxruntime.so", path: `${sherpa}/libonnxruntime.so` },
  ].map((file) => ({ ...file, path: join(project, file.path) }));
  for (const { path } of files)
    if (!existsSync(path)) throw new Error(`Native library for ${process.platform}-${process.arch} not found: ${path}`);
  return files;
}

/** Returns the plugin for `Bun.build`. `loader` is the path of `lib/native.ts`. */
export function createNativeAddonsPlugin(loader: string): Bun.BunPlugin {
  const load = (file: string) => `require(${JSON.stringify(loader)}).loadNative(${JSON.stringify(file)})`;
  const rewrites: Rewrite[] = [
    ...[/node_modules\/libsql\/index\.js$/, /node_modules\/libsql\/promise\.js$/].map((filter) => ({
      filter,
      change: (source: string, path: string) => deferLibsql(source, path, load(LIBSQL)),
    })),
    {
      filter: /node_modules\/onnxruntime-node\/dist\/binding\.js$/,
      change: (source, path) =>
        replaceOnce(
          source,
          path,
          /exports\.binding =\s*(?:\/\/.*\n\s*)*require\(`[^`]*`\);/,
          `Object.defineProperty(exports, "binding", { enumerable: true, get: () => ${load(ONNX)} });`,
        ),
    },
    {
      // The original calls the addon on import. The executable contains only the CPU backend.
      filter: /node_modules\/onnxruntime-node\/dist\/backend\.js$/,
      change: (source, path) =>
        replaceOnce(source, path, "binding_1.binding.listSupportedBackends", '() => [{ name: "cpu", bundled: true }]'),
    },
    // Imported only when an installed model is used, so it may load immediately.
    { filter: /node_modules\/sherpa-onnx-node\/addon\.js$/, change: () => `module.exports = ${load(SHERPA)};` },
  ];
  return {
    name: "native-addons",
    setup(build) {
      const missed = new Set(rewrites.map((rewrite) => rewrite.filter));
      for (const { filter, change } of rewrites)
        build.onLoad({ filter }, async ({ path }) => {
          missed.delete(filter);
          return { contents: change(await Bun.file(path).text(), path), loader: "js" };
        });
      build.onEnd(() => {
        if (missed.size > 0)
          throw new Error(`Modules to rewrite are not in the bundle: ${[...missed].map(String).join(", ")}`);
      });
    },
  };
}

/** Replaces each function of the addon with one that loads the addon when it is called. */
function deferLibsql(source: string, path: string, load: string): string {
  const withoutRequire = replaceOnce(source, path, /function requireNative\(\) \{[\s\S]*?\n\}\n/, "");
  const destructuring = /const \{([\w,\s]+)\} = requireNative\(\);/;
  const names = (destructuring.exec(withoutRequire)?.[1] ?? "").split(",").map((name) => name.trim());
  const wrappers = names
    .filter(Boolean)
    .map((name) => `function ${name}(...values) { return native().${name}.apply(this, values); }`);
  return replaceOnce(withoutRequire, path, destructuring, `const native = () => ${load};\n${wrappers.join("\n")}`);
}

/** Replaces the only match of `what`. Throws when `what` does not match exactly once. */
function replaceOnce(source: string, path: string, what: string | RegExp, by: string): string {
  const pattern = typeof what === "string" ? what : new RegExp(what.source, `${what.flags}g`);
  const count = typeof pattern === "string" ? source.split(pattern).length - 1 : [...source.matchAll(pattern)].length;
  if (count !== 1) throw new Error(`${path}: expected one match for ${what}, found ${count}`);
  return source.replace(what, () => by);
}
