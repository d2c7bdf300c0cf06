import { describe, expect, test } from "bun:test";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { spawnChild } from "../../../../src/lib/process";
import { decompressBzip2, readTar, type TarEntry } from "../../../../src/speech/models/archives";
import { unpackModel } from "../../../../src/speech/models/unpack";
import { temporaryFolder } from "../../../temporary-folder";
import { modelFolder, noise, sha256 } from "./test-models";

/** Runs a program and returns its standard output. */
async function run(command: string[], input?: Uint8Array): Promise<Uint8Array> {
  const child = spawnChild({
    command,
    env: { PATH: process.env.PATH ?? "" },
    stdin: input ? "pipe" : "ignore",
    stdout: "pipe",
  });
  const output = new Response(child.stdout).bytes();
  if (input) {
    await child.stdin.write(input);
    await child.stdin.end();
  }
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`${command[0]}: ${child.stderrTail()}`);
  return output;
}

async function decompress(packed: Uint8Array, chunkBytes = packed.length): Promise<Uint8Array> {
  async function* chunks() {
    for (let at = 0; at < packed.length; at += chunkBytes) yield packed.subarray(at, at + chunkBytes);
  }
  return Buffer.concat(await Array.fromAsync(decompressBzip2(chunks())));
}

describe("bzip2", () => {
  const contents: [string, Uint8Array][] = [
    ["nothing", new Uint8Array(0)],
    ["one byte", Uint8Array.of(7)],
    ["noise over several blocks", noise(250_000)],
    ["one long run", new Uint8Array(300_000).fill(65)],
    [
      "runs of 3 to 7 and of 255 to 261",
      Uint8Array.from([3, 4, 5, 6, 7, 255, 258, 259, 260, 261].flatMap((n, i) => Array(n).fill(i))),
    ],
    ["text", new TextEncoder().encode("she sells sea shells on the sea shore ".repeat(3000))],
  ];
  test.each(contents)("decompresses %s", async (_, data) => {
    const packed = await run(["bzip2", "-1c"], data);
    expect(sha256(await decompress(packed))).toBe(sha256(data));
    expect(sha256(await decompress(packed, 777))).toBe(sha256(data));
  });

  test("concatenated streams are decompressed as one", async () => {
    const [a, b] = await Promise.all([run(["bzip2", "-c"], noise(50)), run(["bzip2", "-9c"], noise(70, 2))]);
    expect(await decompress(Buffer.concat([a, b]))).toEqual(Buffer.concat([noise(50), noise(70, 2)]));
  });

  test("data that expands without bound is rejected", async () => {
    const packed = await run(["sh", "-c", "head -c 100000000 /dev/zero | bzip2 -c"]);
    expect(packed.length).toBeLessThan(1000);
    await expect(decompress(packed)).rejects.toThrow("expands too much");
  });

  test("truncated, changed or foreign data is never accepted", async () => {
    const data = noise(3000);
    const packed = await run(["bzip2", "-c"], data);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: packed.length - 1 }), async (length) => {
        await expect(decompress(packed.slice(0, length))).rejects.toThrow(/damaged or incomplete|not a bzip2/);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(packed.length * 8 - 1), async (bit) => {
        const changed = packed.slice();
        changed[bit >> 3]! ^= 1 << (bit & 7);
        let result: Uint8Array | null = null;
        try {
          result = await decompress(changed);
        } catch {}
        // The block size and the final padding carry no content.
        if (result) expect(sha256(result)).toBe(sha256(data));
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        const claimed = Uint8Array.from([
          ...new TextEncoder().encode("BZh9"),
          0x31,
          0x41,
          0x59,
          0x26,
          0x53,
          0x59,
          ...bytes,
        ]);
        await expect(decompress(claimed)).rejects.toThrow();
      }),
    );
  });
});

type Made = { path: string; data?: Uint8Array; type?: string; link?: string; sizeBytes?: number };

/** Builds a tar archive with entries that no tar program would write. */
function tarOf(entries: Made[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { path, data = new Uint8Array(0), type = "0", link = "", sizeBytes } of entries) {
    const header = new Uint8Array(512);
    const put = (at: number, text: string) => header.set(new TextEncoder().encode(text), at);
    put(0, path);
    put(100, "0000644\0");
    put(124, `${(sizeBytes ?? data.length).toString(8).padStart(11, "0")}\0`);
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, type);
    put(157, link);
    put(257, "ustar\x0000");
    put(
      148,
      `${header
        .reduce((a, b) => a + b, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
    );
    parts.push(header, data, new Uint8Array((512 - (data.length % 512)) % 512));
  }
  return Buffer.concat([...parts, new Uint8Array(1024)]);
}

async function entriesOf(archive: Uint8Array, pieceSize = archive.length): Promise<(TarEntry & { data: string })[]> {
  const found: (TarEntry & { data: string })[] = [];
  async function* pieces() {
    for (let at = 0; at < archive.length; at += pieceSize) yield archive.subarray(at, at + pieceSize);
  }
  await readTar(pieces(), (entry) => {
    const mine = { ...entry, data: "" };
    found.push(mine);
    return async (bytes) => {
      mine.data += new TextDecoder().decode(bytes);
    };
  });
  return found;
}

describe("tar", () => {
  const long = `${"a-folder-with-a-long-name/".repeat(6)}model.onnx`;

  test.each(["gnu", "ustar", "pax"])(
    "reads what tar writes in the format %s, in pieces of any size",
    async (format) => {
      await using folder = await temporaryFolder();
      await mkdir(join(folder.path, long, ".."), { recursive: true });
      await Bun.write(join(folder.path, long), "weights");
      await Bun.write(join(folder.path, "tokens.txt"), "x".repeat(1300));
      await symlink("tokens.txt", join(folder.path, "link.txt"));
      const archive = await run([
        "tar",
        "-C",
        folder.path,
        `--format=${format}`,
        "-cf",
        "-",
        long,
        "tokens.txt",
        "link.txt",
      ]);
      for (const pieceSize of [archive.length, 512, 77]) {
        const entries = await entriesOf(archive, pieceSize);
        expect(entries.map(({ path, kind, data }) => [path, kind, data])).toEqual([
          [long, "file", "weights"],
          ["tokens.txt", "file", "x".repeat(1300)],
          ["link.txt", "link", ""],
        ]);
      }
    },
  );

  test("a truncated archive or other data is an error", async () => {
    const archive = tarOf([{ path: "model.onnx", data: noise(2000) }]);
    for (const length of [100, 512, 1500])
      await expect(entriesOf(archive.slice(0, length))).rejects.toThrow("incomplete");
    await expect(entriesOf(noise(4096))).rejects.toThrow("not a tar archive");
    await expect(entriesOf(new Uint8Array(0))).rejects.toThrow("is empty");
  });

  test("property: any bytes result in entries or an error", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), fc.nat(1535), async (bytes, at) => {
        const archive = tarOf([{ path: "a.onnx", data: noise(100) }]);
        archive.set(bytes.subarray(0, archive.length - at), at);
        await entriesOf(archive).catch((error) => expect(error).toBeInstanceOf(Error));
      }),
    );
  });
});

describe("unpacking", () => {
  const encoder = noise(30_000, 3);

  test.each([
    ["model.tar", []],
    ["model.tar.gz", ["-z"]],
    ["model.tar.bz2", ["-j"]],
  ])("%s: the model's files are unpacked into a flat folder, the rest is skipped", async (name, flags) => {
    await using folder = await temporaryFolder();
    await modelFolder(folder.path, "inside/wavs", { "0.wav": noise(500) });
    await modelFolder(folder.path, "inside", {
      "encoder.onnx": encoder,
      "tokens.txt": "a 0\n",
      "run.sh": "#!/bin/sh\n",
      ".hidden.onnx": "x",
    });
    await run(["tar", "-C", folder.path, ...flags, "-cf", join(folder.path, name), "inside"]);
    const shares: number[] = [];
    const out = join(folder.path, "out");
    await unpackModel(join(folder.path, name), out, { onProgress: (share) => shares.push(share) });
    expect((await readdir(out)).sort()).toEqual(["encoder.onnx", "tokens.txt"]);
    expect(await Bun.file(join(out, "encoder.onnx")).bytes()).toEqual(encoder);
    expect(shares.at(-1)).toBe(1);
  });

  test("no entry leaves the folder, no link is created or followed", async () => {
    await using folder = await temporaryFolder();
    const out = join(folder.path, "deep/out");
    const archive = tarOf([
      { path: "../escaped.onnx", data: noise(10) },
      { path: "/tmp/offcut-absolute.onnx", data: noise(10) },
      { path: "a/../../../b.onnx", data: noise(10) },
      { path: "link.onnx", type: "2", link: "/etc/passwd" },
      { path: "hard.onnx", type: "1", link: "/etc/passwd" },
      { path: "device.onnx", type: "3" },
      { path: "..", data: noise(10) },
      { path: "folder.onnx/", type: "5" },
    ]);
    await Bun.write(join(folder.path, "evil.tar"), archive);
    await unpackModel(join(folder.path, "evil.tar"), out);
    expect((await readdir(out)).sort()).toEqual(["b.onnx", "escaped.onnx", "offcut-absolute.onnx"]);
    expect(await readdir(folder.path)).toEqual(expect.arrayContaining(["deep", "evil.tar"]));
    expect(await readdir(join(folder.path, "deep"))).toEqual(["out"]);
    expect(await Bun.file("/tmp/offcut-absolute.onnx").exists()).toBe(false);
  });

  test("links in a folder are not followed", async () => {
    await using folder = await temporaryFolder();
    const inside = await modelFolder(folder.path, "inside", { "tokens.txt": "a 0\n" });
    await symlink("/etc/passwd", join(inside, "model.onnx"));
    await unpackModel(inside, join(folder.path, "out"));
    expect(await readdir(join(folder.path, "out"))).toEqual(["tokens.txt"]);
  });

  const refused: [string, Made[], string][] = [
    ["a file that claims to be huge", [{ path: "model.onnx", sizeBytes: 9_000_000 }], "the maximum size of a model"],
    [
      "too many files",
      Array.from({ length: 65 }, (_, i) => ({ path: `${i}.onnx`, data: noise(1) })),
      "the maximum size of a model",
    ],
    ["a huge list of tokens", [{ path: "tokens.txt", sizeBytes: 70_000_000 }], "the maximum size of a model"],
    [
      "an endless sample recording",
      [{ path: "0.wav", data: new Uint8Array(3_000_000) }],
      "the maximum size of a model",
    ],
  ];
  test.each(refused)("%s is rejected", async (_, entries, message) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "model.tar");
    await Bun.write(path, tarOf(entries));
    await expect(unpackModel(path, join(folder.path, "out"), { maxBytes: 1_000_000 })).rejects.toThrow(message);
  });

  test("damaged, truncated, foreign or missing files are reported in one line", async () => {
    await using folder = await temporaryFolder();
    const archive = await run(["gzip", "-c"], tarOf([{ path: "model.onnx", data: noise(50_000) }]));
    const files: Record<string, Uint8Array> = {
      "cut.tar.gz": archive.slice(0, archive.length / 2),
      "text.tar": new TextEncoder().encode("not an archive".repeat(100)),
      "empty.tar": new Uint8Array(0),
      "cut.tar.bz2": (await run(["bzip2", "-c"], noise(9000))).slice(0, 4000),
    };
    for (const [name, data] of Object.entries(files)) {
      await Bun.write(join(folder.path, name), data);
      const unpacking = unpackModel(join(folder.path, name), join(folder.path, `out-${name}`));
      await expect(unpacking).rejects.toMatchObject({
        code: "validation_error",
        message: expect.stringContaining(name),
      });
    }
    await expect(unpackModel(join(folder.path, "none.tar"), join(folder.path, "out"))).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
