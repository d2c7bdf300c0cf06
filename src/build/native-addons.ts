/**
 * Points the packages with native addons to `loadNative`, so that the executable loads them from the data folder, and late: reading
 * a package's module loads nothing. Each rewrite fails the build when a package no longer looks as expected.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

type Rewrite = { filter: RegExp; change: (source: string, path: string) => string };

const LIBSQL = "libsql.node";
const ONNX = "onnxruntime_binding.node";
/** In a folder of its own: it brings another version of the same runtime. */
const SHERPA = "sherpa/sherpa-onnx.node";

/** The addons' files of this machine's kind. `name` is the place in the assets' `native` folder. Throws when one is not installed. */
export function nativeFiles(project: string): { name: string; path: string }[] {
  const onnx = `node_modules/onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}`;
  const sherpa = `node_modules/sherpa-onnx-${process.platform}-${process.arch}`;
  const files = [
    { name: LIBSQL, path: `node_modules/@libsql/${process.platform}-${process.arch}-gnu/index.node` },
    { name: ONNX, path: `${onnx}/onnxruntime_binding.node` },
    // Libraries are found by the addons through their run path, which is their own folder.
    { name: "libonnxruntime.so.1", path: `${onnx}/libonnxruntime.so.1` },
    { name: SHERPA, path: `${sherpa}/sherpa-onnx.node` },
    { name: "sherpa/libsherpa-onnx-c-api.so", path: `${sherpa}/libsherpa-onnx-c-api.so` },
    { name: "sherpa/libonnxruntime.so", path: `${sherpa}/libonnxruntime.so` },
  ].map((file) => ({ ...file, path: join(project, file.path) }));
  for (const { path } of files)
    if (!existsSync(path)) throw new Error(`no native library for ${process.platform}-${process.arch}: ${path}`);
  return files;
}

/** The plugin for `Bun.build`. `loader` is the path of `lib/native.ts`. */
export function nativeAddons(loader: string): Bun.BunPlugin {
  const load = (file: string) => `require(${JSON.stringify(loader)}).loadNative(${JSON.stringify(file)})`;
  const rewrites: Rewrite[] = [
    { filter: /node_modules\/libsql\/index\.js$/, change: (source, path) => lazyLibsql(source, path, load(LIBSQL)) },
    {
      filter: /node_modules\/onnxruntime-node\/dist\/binding\.js$/,
      change: (source, path) =>
        replaceOnce(
          source,
          path,
          /exports\.binding =\s*(?:\/\/.*\s*)*require\(`[^`]*`\);/,
          `Object.defineProperty(exports, "binding", { enumerable: true, get: () => ${load(ONNX)} });`,
        ),
    },
    {
      // Would ask the addon while the module is read; the processor's is the one backend that the executable holds.
      filter: /node_modules\/onnxruntime-node\/dist\/backend\.js$/,
      change: (source, path) =>
        replaceOnce(source, path, "binding_1.binding.listSupportedBackends", '() => [{ name: "cpu", bundled: true }]'),
    },
    // Read only when an added model is used, and then it may load at once.
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
        if (missed.size > 0) throw new Error(`not in the build: ${[...missed].map(String).join(", ")}`);
      });
    },
  };
}

/** Each function of the addon becomes one that loads it when called. */
function lazyLibsql(source: string, path: string, load: string): string {
  const withoutRequire = replaceOnce(source, path, /function requireNative\(\) \{[\s\S]*?\n\}\n/, "");
  const taken = /const \{([\w,\s]+)\} = requireNative\(\);/;
  const names = (taken.exec(withoutRequire)?.[1] ?? "").split(",").map((name) => name.trim());
  const wrappers = names
    .filter(Boolean)
    .map((name) => `function ${name}(...values) { return native().${name}.apply(this, values); }`);
  return replaceOnce(withoutRequire, path, taken, `const native = () => ${load};\n${wrappers.join("\n")}`);
}

function replaceOnce(source: string, path: string, what: string | RegExp, by: string): string {
  const pattern = typeof what === "string" ? what : new RegExp(what.source, `${what.flags}g`);
  const count = typeof pattern === "string" ? source.split(pattern).length - 1 : [...source.matchAll(pattern)].length;
  if (count !== 1) throw new Error(`${path}: expected one place to change for the executable, found ${count}`);
  return source.replace(what, () => by);
}
