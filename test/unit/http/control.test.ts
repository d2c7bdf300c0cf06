/** Responses of the control socket to the owner of the data folder. */
import { expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors";
import { createControlHandler } from "../../../src/http/control";
import { silentLog } from "../../../src/lib/log";
import type { Services } from "../../../src/work/services";

test.each([
  ["a backup that does not fit", new AppError("storage_full", "/backup needs 41 GB, has 12 GB free.")],
  ["a disk that is full", Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })],
])("%s is named", async (_, error) => {
  const backups = { create: () => Promise.reject(error) };
  const answer = createControlHandler({ backups } as unknown as Services, silentLog());
  const body = JSON.stringify({ command: "backup create", args: { target: "/backup" } });
  const response = await answer(new Request("http://offcut/", { method: "POST", body }));
  expect([response.status, await response.json()]).toEqual([
    503,
    { error: { code: "upstream_unavailable", message: error.message } },
  ]);
});
