/** The control socket: runs the shell's commands in a running server. File permissions decide who may connect. */
import { AppError } from "../domain/errors";
import type { Log } from "../lib/log";
import { type AdminServices, runAdmin } from "../work/admin-commands";
import { toResponse } from "./call";
import { publicErrorShape, toErrorReply } from "./errors";

/** Creates the handler of `POST /` with `{ command, args }`. Responds with the command's result, or with an error in the public shape. */
export function createControlHandler(services: AdminServices, log: Log): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const { command, args } = (await request.json()) as { command: string; args: Record<string, unknown> };
      if (typeof command !== "string")
        throw new AppError("bad_request", "Field `command` must be the name of a command.");
      const result = await runAdmin(services, command, args ?? {});
      log.info("command.completed", { command });
      return toResponse({ status: 200, body: result });
    } catch (error) {
      return toResponse(
        toErrorReply(error, publicErrorShape, (unknown) => log.error("command.failed", { error: unknown })),
      );
    }
  };
}
