/** The certificate authority of the setting `ca`. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ConfigError } from "./readers";

/** Returns the PEM text of the file; null if `path` is null. Throws `ConfigError` if it contains no certificate. */
export async function readCertificate(path: string | null): Promise<string | null> {
  if (path === null) return null;
  try {
    const text = await readFile(path, "utf8");
    // An invalid certificate would make every connection fail without an explanation.
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new ConfigError(`Cannot read the certificate of ca: ${(error as Error).message}`);
  }
}
