/** The README of an export. */
import { EXPORTED_TABLES } from "./tables";

const TITLE = "Your data in Offcut";

/** Formats the README. `createdAt`: milliseconds since 1970. */
export function formatReadme(request: { email: string; hasMedia: boolean; createdAt: number }): string {
  const files = EXPORTED_TABLES.map(({ file, about }) => [file, about] as const);
  const more = [
    ["transcripts/<asset_id>.json", "the recognized words of a recording, with times in seconds"],
    ...(request.hasMedia
      ? ([
          ["media/sources/", "the recordings, under the names that they were uploaded with"],
          ["media/renders/", "the rendered files"],
          ["media.json", "which file belongs to which recording or render, and which files were missing"],
        ] as const)
      : []),
  ] as const;
  const all = [...files, ...more];
  const width = Math.max(...all.map(([file]) => file.length));
  return `${TITLE}
${"=".repeat(TITLE.length)}

Account: ${request.email}
Created: ${new Date(request.createdAt).toISOString()}

All files are JSON in UTF-8, except for media. Each contains an array with one
object per line, so that it can be read with any JSON library, and line by line
with any text tool. Times are ISO 8601 in UTC, fields have the names of Offcut's
API, and a field without a value is null. An ID in one file, such as the
asset_id of a cut, is the id of an object in another one.

Content
-------

${all.map(([file, about]) => `${file.padEnd(width)}  ${about}`).join("\n")}

What is included
----------------

- Your personal workspace: everything.
- Shared workspaces that you are a member of: the projects, recordings, cuts,
  renders and pipelines that you have made, and what you have ordered.
- Not included are passwords, keys, secrets and links that work without signing
  in: nobody gets into your account with this file.
- Rows that changed while the file was written may be in it in either form.
${request.hasMedia ? "" : "\nThe media files are not in this export. Request it with media=true to get them.\n"}`;
}
