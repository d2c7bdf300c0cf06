/** Keys and signatures in the format of minisign: made here, and by the program itself where it is installed. */
import { generateKeyPairSync } from "node:crypto";
import { formatPublicKey, parseSecretKey, signFile } from "../src/build/minisign-secret";
import { findProgram } from "../src/lib/programs";

/** The real program; null where it is not installed. `./install.sh test` installs it. */
export const MINISIGN = findProgram("minisign", process.env.PATH);

export type KeyTexts = { secretText: string; publicText: string };

/** Creates a key pair as `minisign -G -W` writes it. */
export function createKeys(): KeyTexts {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = Buffer.from(privateKey.export({ format: "jwk" }).d!, "base64url");
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  const head = Buffer.concat([Buffer.from("Ed\0\0B2"), Buffer.alloc(48)]);
  const id = crypto.getRandomValues(new Uint8Array(8));
  const bytes = Buffer.concat([head, id, seed, point, Buffer.alloc(32)]);
  const secretText = `untrusted comment: minisign encrypted secret key\n${bytes.toString("base64")}\n`;
  return { secretText, publicText: formatPublicKey(parseSecretKey(secretText)) };
}

/** Writes `path.minisig`. */
export async function sign(path: string, { secretText }: KeyTexts, comment = "version:9.9.9"): Promise<void> {
  await Bun.write(`${path}.minisig`, await signFile(path, comment, parseSecretKey(secretText)));
}
