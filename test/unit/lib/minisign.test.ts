/** Signatures of releases: Offcut accepts signatures of minisign and vice versa, and rejects all others. */
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { formatPublicKey, parseSecretKey } from "../../../src/build/minisign-secret";
import { parsePublicKey, parseSignature, readSmallFile, verifyFile } from "../../../src/lib/minisign";
import { createKeys, type KeyTexts, MINISIGN, sign } from "../../minisign";
import { type TemporaryFolder, temporaryFolder } from "../../temporary-folder";

let folder: TemporaryFolder;
let file: string;
const keys = createKeys();
beforeAll(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, "offcut");
  await Bun.write(file, crypto.getRandomValues(new Uint8Array(60_000)));
  return () => folder[Symbol.asyncDispose]();
});

const verify = (path: string, signature: string, { publicText }: KeyTexts): Promise<string> =>
  Promise.resolve().then(() => verifyFile(path, parseSignature(signature), parsePublicKey(publicText)));
const signed = async (comment?: string) => {
  await sign(file, keys, comment);
  return readFile(`${file}.minisig`, "utf8");
};

test("a signed file is accepted, and its comment returned", async () => {
  expect(await verify(file, await signed("version:1.2.3\tfile:offcut"), keys)).toBe("version:1.2.3\tfile:offcut");
  const [, line] = keys.publicText.split("\n");
  expect(await verify(file, (await signed("ü")).replaceAll("\n", "\r\n"), { ...keys, publicText: line! })).toBe("ü");
});

describe("refused:", () => {
  test("another file, also one that was cut off or has one more byte", async () => {
    const signature = await signed();
    const bytes = await readFile(file);
    const flipped = Buffer.from(bytes);
    flipped[30_000]! ^= 1;
    for (const content of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.of(0)]), flipped, Buffer.of()]) {
      const other = join(folder.path, "other");
      await Bun.write(other, content);
      await expect(verify(other, signature, keys)).rejects.toThrow("the file is not the one that was signed");
    }
  });

  test("another key, also one with the same ID", async () => {
    const other = createKeys();
    const signature = await signed();
    await expect(verify(file, signature, other)).rejects.toThrow(
      /it was signed with key [0-9A-F]{16}, expected [0-9A-F]{16}/,
    );
    const [, line] = signature.split("\n");
    const forged = Buffer.from(line!, "base64");
    Buffer.from(parsePublicKey(other.publicText).id).copy(forged, 2);
    const text = signature.replace(line!, forged.toString("base64"));
    await expect(verify(file, text, other)).rejects.toThrow("the file is not the one that was signed");
  });

  test("an altered trusted comment, which alone names the version", async () => {
    const signature = (await signed("version:1.0.0")).replace("version:1.0.0", "version:2.0.0");
    await expect(verify(file, signature, keys)).rejects.toThrow("the trusted comment is not the one that was signed");
  });

  test("a prehashed signature as one of the file itself", async () => {
    const signature = await signed();
    const [, line] = signature.split("\n");
    const legacy = Buffer.from(line!, "base64");
    legacy.write("Ed", "latin1");
    await expect(verify(file, signature.replace(line!, legacy.toString("base64")), keys)).rejects.toThrow(
      "the file is not the one that was signed",
    );
  });

  test("an invalid signature", async () => {
    const signature = await signed();
    const lines = signature.split("\n");
    for (const text of [
      "",
      "\n".repeat(4),
      lines.slice(0, 2).join("\n"),
      lines.slice(0, 3).join("\n"),
      `${signature}${signature}`,
      signature.replace("trusted comment: ", "comment: "),
      signature.replace(lines[1]!, `${lines[1]}AAAA`),
      signature.replace(lines[1]!, "!".repeat(100)),
      signature.replace("RU", "RX"),
    ])
      expect(() => parseSignature(text)).toThrow("not a minisign signature");
  });

  test("a huge signature file, a folder, and a missing one", async () => {
    await Bun.write(join(folder.path, "huge"), "A".repeat(16_385));
    await mkdir(join(folder.path, "directory"), { recursive: true });
    for (const name of ["huge", "directory"])
      await expect(readSmallFile(join(folder.path, name))).rejects.toThrow(`${name}: not a minisign file`);
    await expect(readSmallFile(join(folder.path, "missing"))).rejects.toThrow("missing: file not found");
  });

  test("an invalid key", () => {
    for (const text of ["", "untrusted comment: x", "RWQ=", keys.secretText])
      expect(() => parsePublicKey(text)).toThrow("not a minisign public key");
    for (const text of ["", "x\ny", keys.publicText])
      expect(() => parseSecretKey(text)).toThrow("not a minisign secret key");
    const [comment, line] = keys.secretText.split("\n");
    const encrypted = Buffer.from(line!, "base64");
    encrypted.write("Sc", 2, "latin1");
    expect(() => parseSecretKey(`${comment}\n${encrypted.toString("base64")}`)).toThrow(
      "the secret key is encrypted: create one without a password with minisign -G -W",
    );
    const damaged = Buffer.from(line!, "base64");
    damaged[70]! ^= 1;
    expect(() => parseSecretKey(`${comment}\n${damaged.toString("base64")}`)).toThrow(
      "its halves do not belong together",
    );
  });
});

describe.skipIf(MINISIGN === null)("the program minisign", () => {
  function minisign(...args: string[]): void {
    const { exitCode, stderr, stdout } = Bun.spawnSync([MINISIGN!, ...args], { cwd: folder.path, stdin: "ignore" });
    if (exitCode !== 0) throw new Error(`minisign ${args.join(" ")}: ${stdout} ${stderr}`);
  }

  test.each([
    ["prehashed", []],
    ["legacy", ["-l"]],
  ])("signs (%s) what Offcut accepts", async (name, options) => {
    minisign("-G", "-W", "-f", "-p", "real.pub", "-s", "real.key");
    minisign("-S", ...options, "-s", "real.key", "-m", "offcut", "-x", `${name}.minisig`, "-t", "a comment");
    const publicText = await readFile(join(folder.path, "real.pub"), "utf8");
    const signature = await readFile(join(folder.path, `${name}.minisig`), "utf8");
    expect(parseSignature(signature).isPrehashed).toBe(name === "prehashed");
    expect(await verify(file, signature, { secretText: "", publicText })).toBe("a comment");
    await expect(verify(join(folder.path, "real.pub"), signature, { secretText: "", publicText })).rejects.toThrow(
      "the file is not the one that was signed",
    );
  });

  test("accepts signatures of Offcut, with a key of either", async () => {
    minisign("-G", "-W", "-f", "-p", "real.pub", "-s", "real.key");
    const secretText = await readFile(join(folder.path, "real.key"), "utf8");
    const publicText = await readFile(join(folder.path, "real.pub"), "utf8");
    // The program writes the ID in the comment without leading zeros.
    const toKey = (text: string) => text.split("\n")[1];
    expect(toKey(formatPublicKey(parseSecretKey(secretText)))).toBe(toKey(publicText)!);
    for (const pair of [{ secretText, publicText }, keys]) {
      await sign(file, pair, "timestamp:1\tfile:offcut\thashed");
      await Bun.write(join(folder.path, "our.pub"), pair.publicText);
      minisign("-V", "-p", "our.pub", "-m", "offcut");
    }
    await Bun.write(join(folder.path, "other"), "other");
    expect(() => minisign("-V", "-p", "our.pub", "-m", "other", "-x", "offcut.minisig")).toThrow();
  });
});
