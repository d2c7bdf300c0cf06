/** The certificate authority of the setting `ca`. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ConfigError } from "./readers";

/** Returns the PEM text of the file; null without one. Throws `ConfigError` when it has no certificate. */
export async function readCertificate(path: string | null): Promise<string | null> {
  if (path === null) return null;
  try {
    const text = await readFile(path, "utf8");
    // Without a certificate in it, each connection would fail without a reason.
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new ConfigError(`Cannot read the certificate of ca: ${(error as Error).message}`);
  }
}
