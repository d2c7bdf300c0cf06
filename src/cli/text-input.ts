/** Reads text files that are named on the command line. */
import { existsSync, statSync } from "node:fs";
import { decodeText, decodeUnicode } from "../domain/text/decode";
import { UsageError } from "./options";

/** `kind` and `path` name the file in messages. A script may have another encoding than Unicode. */
type TextInput = { kind: "script" | "vocabulary" | "plan"; path: string; maxBytes: number; limit: string };

/** Throws `UsageError` unless the path is a file or a pipe. */
export function requireTextInput({ kind, path }: Pick<TextInput, "kind" | "path">): void {
  if (!existsSync(path)) throw new UsageError(`${kind} not found: ${path}`);
  const stat = statSync(path);
  if (!stat.isFile() && !stat.isFIFO()) throw new UsageError(`${kind} ${path} is not a file`);
}

/**
 * Returns the text of a file. Reads no more than `maxBytes`, even from a pipe, whose size is not known in advance.
 * Throws `UsageError`.
 */
export async function readTextInput(input: TextInput): Promise<string> {
  requireTextInput(input);
  const { kind, path, maxBytes, limit } = input;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of Bun.file(path).stream()) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new UsageError(`${kind} ${path} must have at most ${limit}`);
  }
  const content = Buffer.concat(chunks);
  return kind === "script" ? decodeText(content) : decodeUnicode(content);
}
