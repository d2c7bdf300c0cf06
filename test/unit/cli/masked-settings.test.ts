import { expect, test } from "bun:test";
import { listMaskedSettings, maskSecret } from "../../../src/cli/settings";
import { loadConfig } from "../../../src/config";

test("every setting has its effective value", async () => {
  const config = await loadConfig({ env: { OFFCUT_PORT: "4711" }, flags: { "data-dir": "/data" } });
  const shown = Object.fromEntries(listMaskedSettings(config).map(({ key, value }) => [key, value]));
  expect(shown.port).toBe(4711);
  expect(shown.data_dir).toBe("/data");
  expect(Object.values(shown)).not.toContain(undefined);
});

test("secrets and passwords in URLs are masked, paths are not", () => {
  expect(maskSecret("stripe_secret_key", "sk_live_x")).toBe("***");
  expect(maskSecret("oidc_client_secret", "x")).toBe("***");
  expect(maskSecret("join_token", "x")).toBe("***");
  expect(maskSecret("backup_key", "x")).toBe("***");
  expect(maskSecret("redis_url", "redis://me:word@host:6379/0")).toBe("redis://me:***@host:6379/0");
  expect(maskSecret("smtp_url", "smtp://host:25")).toBe("smtp://host:25");
  expect(maskSecret("tls_key", "/etc/offcut/key.pem")).toBe("/etc/offcut/key.pem");
  expect(maskSecret("stripe_secret_key", null)).toBeNull();
});
