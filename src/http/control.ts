/** The control socket: the shell's commands, spoken to a running server. Who may open the socket is the file system's business. */
import { AppError } from "../domain/errors";
import type { Log } from "../lib/log";
import { type AdminServices, runAdmin } from "../work/admin";
import { toResponse } from "./call";
import { publicErrorShape, toErrorReply } from "./errors";

/** Answers `POST /` with `{ command, args }`; the answer is the command's result, or an error body of the public family. */
export function createControlHandler(services: AdminServices, log: Log): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const { command, args } = (await request.json()) as { command: string; args: Record<string, unknown> };
      if (typeof command !== "string") throw new AppError("bad_request", "Send the name of a command.");
      const result = await runAdmin(services, command, args ?? {});
      log.info("command", { command });
      return toResponse({ status: 200, body: result });
    } catch (error) {
      return toResponse(
        toErrorReply(error, publicErrorShape, (unknown) => log.error("command failed", { error: unknown })),
      );
    }
  };
}
