import { expect, test } from "bun:test";
import fc from "fast-check";
import { anonymizeLogLine, anonymizeText, prepareNames } from "../../../src/lib/anonymize";

const NAMES = prepareNames(["Zephyrine Quux", "Zephyrine", "holiday talk.mp4", "Studio Kumquat", "mailhost"]);

test.each<[string, string, string]>([
  [
    "what is not a name stays",
    "ffmpeg failed with exit code 69 after 1.5 s",
    "ffmpeg failed with exit code 69 after 1.5 s",
  ],
  [
    "a size",
    "Upload-Offset is 1,024 but the server has 2,048 bytes",
    "Upload-Offset is 1,024 but the server has 2,048 bytes",
  ],
  [
    "SQL of a failed query",
    "Failed query: select id from assets where id = ?",
    "Failed query: select id from assets where id = ?",
  ],
  ["a version", "version 7.1.2, bundled", "version 7.1.2, bundled"],
  ["a known name", "Workspace of zephyrine quux is full", "Workspace of … is full"],
  ["a known name twice", "Zephyrine invited Zephyrine", "… invited …"],
  ["a host without a dot", "mailhost does not respond", "… does not respond"],
  ["a file name", "cannot open clip-7.mov: damaged", "cannot open …: damaged"],
  ["an email address", "mail to anna.b+c@studio.example failed", "mail to … failed"],
  ["a URL", "GET https://hooks.example/a?token=b failed", "GET … failed"],
  ["a path", "ENOENT: no such file, open /var/lib/offcut/x y", "ENOENT: no such file, open … y"],
  ["a path in quotes", "ENOENT: open '/home/anna/my talk.mp4'", "ENOENT: open …"],
  ["quoted text", 'Line "Please subscribe to us" was not found', "Line … was not found"],
  ["quoted text that was cut", 'Line "Please subscribe', "Line …"],
  [
    "a contraction",
    "The server doesn't respond and can't be reached",
    "The server doesn't respond and can't be reached",
  ],
  ["an address", "connect ECONNREFUSED 10.1.2.3:6379", "connect ECONNREFUSED …"],
  ["an IPv6 address", "from 2001:db8::1 and [::1]:80", "from … and …:80"],
  ["another script", "cannot read Привет мир", "cannot read …"],
  ["accents", "Zoë is not a member", "… is not a member"],
  ["several lines", "failed\n  title : Secret", "failed"],
])("%s", (_, text, expected) => {
  expect(anonymizeText(text, NAMES)).toBe(expected);
});

test("a line of the log keeps numbers, IDs, times and words of the program", () => {
  const id = "0190a0b0-0000-7000-8000-000000000000";
  const line = {
    time: "2027-01-15T08:00:00.000Z",
    level: "error",
    event: "job.failed",
    job: id,
    duration_ms: 12,
    name: "render",
    client: "10.1.2.3",
    path: "/v1/projects/Kumquat",
    languages: ["de", "en"],
    error: {
      name: "TypeError",
      message: 'cannot read "Kumquat"',
      code: "ENOENT",
      stack:
        "TypeError: cannot read Kumquat\n    at readPlan (/home/anna/offcut/plan.ts:12:7)\n    at async /$bunfs/x:1:2",
      Kumquat_field: "x",
      "anna@example.test": 1,
    },
    unknown: "Kumquat",
    code: "Kumquat",
  };
  expect(anonymizeLogLine(JSON.stringify(line), prepareNames(["kumquat"]))).toEqual({
    time: "2027-01-15T08:00:00.000Z",
    level: "error",
    event: "job.failed",
    job: id,
    duration_ms: 12,
    name: "…",
    client: "…",
    path: "…",
    languages: ["de", "en"],
    error: {
      name: "TypeError",
      message: "cannot read …",
      code: "ENOENT",
      stack: "at readPlan (:12:7) at async (:1:2)",
      Kumquat_field: "…",
    },
    unknown: "…",
    code: "…",
  });
  for (const other of ["", "text", "[1]", "null", '{"a":'])
    expect([other, anonymizeLogLine(other, NAMES)]).toEqual([other, null]);
});

test("no known name and no address is left in any text", () => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 _-]{2,20}[a-z0-9]$/);
  const around = fc.string({ maxLength: 30 });
  fc.assert(
    fc.property(name, around, around, (secret, before, after) => {
      const shown = anonymizeText(`${before} ${secret} ${after}`, prepareNames([secret]));
      return !shown.toLowerCase().includes(secret.trim().toLowerCase());
    }),
  );
  fc.assert(
    fc.property(fc.emailAddress(), fc.ipV4(), fc.webUrl(), (email, address, url) => {
      const shown = anonymizeText(`to ${email} from ${address} at ${url} end`, prepareNames([]));
      return ![email, address, url].some((one) => shown.includes(one));
    }),
  );
});
