/** A certificate for tests. */
import { join } from "node:path";

/** Creates `cert.pem` and `key.pem` for localhost. The certificate is its own authority. */
export async function createCertificate(folder: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const options = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const made = Bun.spawnSync(["openssl", "req", ...options, ...names, "-out", cert, "-keyout", key]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  return { cert: await Bun.file(cert).text(), key: await Bun.file(key).text() };
}
