/** Parses the text of all licenses. Pure. */

/** `facts` contains the license name and the address, if known. */
export type License = { name: string; facts: string; text: string };

const SEPARATOR = `\n${"-".repeat(100)}\n\n`;

/** Returns the notes at the start, and an entry for Offcut, for ffmpeg and for each package. */
export function readLicenses(all: string): { notes: string; licenses: License[] } {
  const [notes = "", own = "", ffmpeg = "", ...packages] = all.split(SEPARATOR);
  return {
    notes: notes.trim(),
    licenses: [
      { name: "Offcut", facts: "Apache License 2.0", text: own.trim() },
      { name: "ffmpeg", facts: "GNU General Public License, version 3 or later", text: ffmpeg.trim() },
      ...packages.map(readPackage),
    ],
  };
}

/** Matches the head of an entry: name and version, license, address. */
function readPackage(entry: string): License {
  const end = entry.indexOf("\n\n");
  const [name = "", ...facts] = (end < 0 ? entry : entry.slice(0, end)).trim().split("\n");
  const text = end < 0 ? "" : entry.slice(end).trim();
  return { name, facts: facts.map((fact) => fact.replace(/^License: /, "")).join(", "), text };
}
