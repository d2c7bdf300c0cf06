/**
 * Builds the executable of a release and signs it: `bun src/build/package.ts [--out dist/offcut]`. OFFCUT_SIGNING_KEY
 * is an unencrypted secret key of minisign, or the path of its file. The public key goes into the executable, so that
 * it accepts the next release; the signature is written to `dist/offcut.minisig`.
 */
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../../package.json";
import { writeAtomic } from "../lib/atomic-file";
import { formatKeyId, parsePublicKey, parseSignature, verifyFile } from "../lib/minisign";
import { formatPublicKey, type MinisignSecretKey, parseSecretKey, signFile } from "./minisign-secret";

const { values } = parseArgs({ options: { out: { type: "string", default: "dist/offcut" } } });
const out = resolve(values.out);
const secret = await readSigningKey(process.env.OFFCUT_SIGNING_KEY).catch((error: Error) =>
  fail(`OFFCUT_SIGNING_KEY: ${error.message}`),
);
const publicKey = formatPublicKey(secret);
// An executable must not be next to the signature of another one.
await rm(`${out}.minisig`, { force: true });
await build();
const comment = `timestamp:${Math.floor(Date.now() / 1000)}\tfile:${basename(out)}\thashed\tversion:${version}`;
const signature = await signFile(out, comment, secret);
await verifyFile(out, parseSignature(signature), parsePublicKey(publicKey));
await writeAtomic(`${out}.minisig`, signature);
console.log(`${out}.minisig: signed with key ${formatKeyId(secret.id)}`);

async function readSigningKey(given: string | undefined): Promise<MinisignSecretKey> {
  if (given === undefined || given.trim() === "")
    throw new Error("set it to a secret key of minisign -G -W, or to the path of its file");
  const text = existsSync(given) ? await readFile(given, "utf8") : given;
  if (text === given && given.includes("/") && !given.includes("\n") && given.length < 200)
    throw new Error(`${given}: file not found`);
  return parseSecretKey(text);
}

/** Builds with the public key, and without the secret one in the environment. */
async function build(): Promise<void> {
  const { OFFCUT_SIGNING_KEY: _, ...env } = process.env;
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "executable.ts"), "--out", out], {
    env: { ...env, OFFCUT_RELEASE_KEY: publicKey },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await child.exited) !== 0) fail("the build failed");
}

function fail(reason: string): never {
  console.error(`package: ${reason}`);
  process.exit(1);
}
