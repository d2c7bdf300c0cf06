/** Reads the head's message at the start of an execution. Names become paths here, so they are checked, although the head is trusted. */
import { type ExecutionManifest, getMessageCheck, manifestMessage } from "../../domain/worker-messages";
import { HeadError } from "../../outbound/head";

/** What is wrong, by the first part of the path of the first error. */
const PROBLEMS: Record<string, string> = {
  kind: "its kind is unknown",
  asset: "its asset is missing",
  owner: "its input is missing",
  input: "its input is missing",
  files: "its files are missing or too many",
};

/** Checks a manifest. Throws `HeadError`. */
export function parseManifest(body: unknown, execution: string): ExecutionManifest {
  const check = getMessageCheck(manifestMessage);
  if (!check.Check(body)) {
    const [, part = "", file] = check.Errors(body).First()?.path.split("/") ?? [];
    throw invalid(
      file === undefined ? (PROBLEMS[part] ?? "it is that of another execution") : "a file of it is not valid",
    );
  }
  if (body.execution !== execution) throw invalid("it is that of another execution");
  const names = new Set(body.files.map(({ role, name }) => `${role}/${name}`));
  if (names.size !== body.files.length) throw invalid("two files have the same name");
  return body;
}

const invalid = (why: string): HeadError =>
  new HeadError(200, "", `The manifest of an execution is not valid: ${why}.`);
