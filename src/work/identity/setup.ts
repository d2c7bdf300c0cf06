/** Setup of a new server: a link, readable only by the server's user, that works until there is an administrator. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { SECRET_FILE_MODE, writeAtomic } from "../../lib/atomic-file";
import { isEqualSecret } from "../../lib/hash";
import { randomToken } from "../../lib/ids";
import type { Store } from "../../store/db";
import { hasAdministrator } from "../../store/users";

const FILE_NAME = "setup-url";
const TOKEN_CHARACTERS = 43;

export function openSetup(services: { folder: string; store: Store; publicUrl(): string }) {
  const path = join(services.folder, FILE_NAME);

  const readToken = async (): Promise<string | null> => {
    const file = Bun.file(path);
    const text = (await file.exists()) ? await file.text() : "";
    return /#([0-9A-Za-z]+)\s*$/.exec(text)?.[1] ?? null;
  };
  const finish = () => rm(path, { force: true });

  return {
    /** Returns the link, creating it if needed; null once there is an administrator. */
    url: async () => {
      if (await hasAdministrator(services.store.read)) {
        await finish();
        return null;
      }
      const stored = await readToken();
      // The `#` keeps the token out of requests and logs.
      const url = `${services.publicUrl()}/setup#${stored ?? randomToken(TOKEN_CHARACTERS)}`;
      await writeAtomic(path, `${url}\n`, SECRET_FILE_MODE);
      return url;
    },
    /** Returns whether this is the token of the link. */
    matches: async (token: string) => {
      const stored = await readToken();
      return stored !== null && isEqualSecret(token, stored);
    },
    /** Removes the link. */
    finish,
  };
}

export type Setup = ReturnType<typeof openSetup>;
