import { describe, expect, test } from "bun:test";
import { type Bucket, type BucketTiming, openBucket } from "../../../src/outbound/s3";
import { BUCKET, refuse, type S3Server, startS3Server } from "../../s3-server";

const NEVER = new AbortController().signal;
const ATTEMPTS = 3;
/** Limits that a busy machine does not reach. */
const PATIENT: BucketTiming = { requestMs: 60_000, idleMs: 60_000, delayMs: 1, attempts: ATTEMPTS };
const IMPATIENT_MS = 50;
const LOCATION = { bucket: BUCKET, prefix: "office/" };
const bytes = (text: string) => new TextEncoder().encode(text);

const open = (s3: S3Server, timing = PATIENT) => openBucket(LOCATION, s3.env, timing);
const failure = (work: Promise<unknown>): Promise<Error & { code?: string }> =>
  work.then(
    () => new Error("done"),
    (error) => error,
  );

async function list(bucket: Bucket, start: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(start, NEVER)) keys.push(key);
  return keys;
}

test("objects are written, read, listed and deleted below the prefix only", async () => {
  await using s3 = await startS3Server();
  const bucket = open(s3);
  await s3.client.write("other/a", "of another prefix");
  await bucket.put("blobs/a", bytes("first"), NEVER);
  await bucket.put("blobs/b", new Uint8Array(), NEVER);
  await bucket.put("locks/c", bytes("third"), NEVER);
  expect((await list(open(s3), "blobs/")).sort()).toEqual(["blobs/a", "blobs/b"]);
  expect((await s3.keys()).sort()).toEqual(["office/blobs/a", "office/blobs/b", "office/locks/c", "other/a"]);
  expect(Buffer.from((await bucket.get("blobs/a", 100, NEVER))!).toString()).toBe("first");
  expect((await bucket.get("blobs/b", 100, NEVER))!.length).toBe(0);
  expect((await bucket.get("blobs/a", 2, NEVER))!.length).toBe(3);
  expect(await bucket.get("blobs/none", 100, NEVER)).toBeNull();
  await bucket.delete("blobs/a", NEVER);
  await bucket.delete("blobs/a", NEVER);
  expect(await list(open(s3), "blobs/")).toEqual(["blobs/b"]);
});

describe("a list of several pages", () => {
  const page = (key: string, next: string | null) => {
    const item = `<Contents><Key>office/${key}</Key><Size>1</Size><ETag>"e"</ETag></Contents>`;
    const end = next === null ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`;
    const isTruncated = `<IsTruncated>${next !== null}</IsTruncated>`;
    return new Response(`<ListBucketResult>${isTruncated}${end}${item}</ListBucketResult>`);
  };

  test("is complete", async () => {
    await using s3 = await startS3Server();
    s3.intercept = ({ query }) =>
      query.get("continuation-token") === "second" ? page("blobs/b", null) : page("blobs/a", "second");
    expect(await list(open(s3), "blobs/")).toEqual(["blobs/a", "blobs/b"]);
  });

  test("that never ends is refused", async () => {
    await using s3 = await startS3Server();
    let requests = 0;
    s3.intercept = () => {
      requests++;
      return page("blobs/a", "same");
    };
    expect((await failure(list(open(s3), "blobs/"))).message).toBe(
      "s3://backups/office: the list of objects does not end.",
    );
    expect(requests).toBe(2);
  });
});

test("an object of 9 MB is sent in one request", async () => {
  await using s3 = await startS3Server();
  await open(s3).put("blobs/a", new Uint8Array(9_000_000), NEVER);
  expect(s3.requests).toEqual([expect.objectContaining({ method: "PUT", key: "office/blobs/a", bytes: 9_000_000 })]);
});

test.each([
  [
    403,
    "AccessDenied",
    "access is denied. The access key needs to list, read, write and delete objects (AccessDenied).",
  ],
  [
    403,
    "SignatureDoesNotMatch",
    "the secret access key is wrong. Check AWS_SECRET_ACCESS_KEY (SignatureDoesNotMatch).",
  ],
  [
    403,
    "RequestTimeTooSkewed",
    "the clock of this machine differs from that of the bucket. Correct it (RequestTimeTooSkewed).",
  ],
  [404, "NoSuchBucket", "the bucket does not exist (NoSuchBucket)."],
])("the refusal %s %s is said at once", async (status, code, message) => {
  await using s3 = await startS3Server();
  let requests = 0;
  s3.intercept = () => {
    requests++;
    return refuse(status, code);
  };
  const bucket = open(s3);
  const calls = [
    bucket.put("a", bytes("x"), NEVER),
    bucket.get("a", 10, NEVER),
    bucket.delete("a", NEVER),
    list(bucket, ""),
  ];
  for (const call of calls)
    expect(await failure(call)).toMatchObject({ code: "upstream_error", message: `s3://${BUCKET}/office: ${message}` });
  expect(requests).toBe(4);
});

describe("a bucket that", () => {
  const FAULTS: [string, () => Response | Promise<Response>][] = [
    ["is overloaded", () => refuse(503, "SlowDown")],
    ["fails", () => new Response("oops", { status: 500 })],
    ["does not respond in time", () => new Promise<Response>(() => {})],
  ];
  test.each(FAULTS)("%s is retried", async (_, fault) => {
    await using s3 = await startS3Server();
    // Each attempt reads its limit. Those that the bucket answers have a long one.
    let failing = 0;
    let attempts = 0;
    const readLimit = () => (++attempts <= failing ? IMPATIENT_MS : PATIENT.idleMs);
    const timing = {
      ...PATIENT,
      get requestMs() {
        return readLimit();
      },
      get idleMs() {
        return readLimit();
      },
    };
    s3.intercept = () => (attempts <= failing ? fault() : null);
    const bucket = open(s3, timing);
    const fail = (count: number) => {
      attempts = 0;
      failing = count;
    };
    fail(2);
    await bucket.put("a", bytes("first"), NEVER);
    fail(2);
    expect(Buffer.from((await bucket.get("a", 10, NEVER))!).toString()).toBe("first");
    fail(2);
    expect(await list(bucket, "")).toEqual(["a"]);
    expect(attempts).toBe(ATTEMPTS);
    fail(ATTEMPTS);
    expect(await failure(bucket.get("a", 10, NEVER))).toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringMatching(/^s3:\/\/backups\/office failed 3 times: .+\.$/),
    });
  });

  test("sends a body that stops does not block", async () => {
    await using s3 = await startS3Server();
    s3.intercept = () =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) }));
    const bucket = open(s3, { ...PATIENT, idleMs: IMPATIENT_MS });
    expect((await failure(bucket.get("a", 100, NEVER))).message).toContain("no response within");
  });

  test("is away is named, and the credentials are not", async () => {
    const env = {
      AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "secret-of-the-key",
      AWS_ENDPOINT_URL: "http://127.0.0.1:1",
    };
    const error = await failure(openBucket(LOCATION, env, PATIENT).get("a", 10, NEVER));
    expect(error.message).toBe("s3://backups/office failed 3 times: no valid response (ConnectionRefused).");
    expect(Bun.inspect(error)).not.toMatch(/AKIAEXAMPLE|secret-of-the-key/);
  });
});

test("an abort ends a wait at once", async () => {
  await using s3 = await startS3Server();
  s3.intercept = () => new Promise<Response>(() => {});
  const abort = new AbortController();
  const reading = open(s3).get("a", 10, abort.signal);
  abort.abort(new Error("stopped"));
  expect((await failure(reading)).message).toBe("stopped");
});

test("control characters of a bucket do not reach the terminal", async () => {
  await using s3 = await startS3Server();
  s3.intercept = () => refuse(500, "Bad\u001b[2J");
  expect((await failure(open(s3).get("a", 10, NEVER))).message).not.toContain("\u001b");
});

test("missing credentials are named by their variables", () => {
  expect(() => openBucket(LOCATION, { AWS_ACCESS_KEY_ID: "AKIA" })).toThrow(
    "s3://backups/office needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment of the server.",
  );
});
