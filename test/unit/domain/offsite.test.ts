import { describe, expect, test } from "bun:test";
import {
  formatOffsiteUrl,
  getBlobBytes,
  isOffsite,
  parseOffsiteUrl,
  splitBackupUrl,
} from "../../../src/domain/offsite";

test.each([
  ["s3://backups", { bucket: "backups", prefix: "" }],
  ["s3://backups/", { bucket: "backups", prefix: "" }],
  ["s3://my.bucket-1/office", { bucket: "my.bucket-1", prefix: "office/" }],
  ["s3://backups/a/b=1/", { bucket: "backups", prefix: "a/b=1/" }],
])("%s is a place", (url, location) => {
  expect(parseOffsiteUrl(url)).toEqual(location);
  expect(parseOffsiteUrl(formatOffsiteUrl(location))).toEqual(location);
});

describe("refuses", () => {
  test.each([
    "s3:",
    "s3://",
    "s3:///prefix",
    "s3://ab",
    "S3://backups",
    "s3:/backups",
    "s3://backups//a",
    "s3://backups/../a",
    "s3://backups/./a",
    "s3://backups/a?x=1",
    "s3://backups/a#b",
    "s3://backups/a b",
    "s3://backups/a\n",
    "s3://backups:9000/a",
    `s3://backups/${"a".repeat(501)}`,
    "https://backups.example/a",
  ])("%p", (url) => {
    expect(isOffsite(url)).toBe(true);
    expect(() => parseOffsiteUrl(url)).toThrow("must be s3://BUCKET or s3://BUCKET/PREFIX.");
  });

  test("credentials, without repeating them", () => {
    const url = "s3://AKIAEXAMPLE:secret@backups/a";
    expect(() => parseOffsiteUrl(url)).toThrow(/^must not contain credentials\. Set AWS_ACCESS_KEY_ID/);
    expect(() => parseOffsiteUrl(url)).not.toThrow(/AKIAEXAMPLE|secret@/);
  });
});

test.each(["/backup", "backup", "./s3:/x", "s3"])("%s is a folder", (path) => {
  expect(isOffsite(path)).toBe(false);
});

test.each([
  ["s3://b-1/x/offcut-2027-01-31T02-00-00Z", "s3://b-1/x", "offcut-2027-01-31T02-00-00Z"],
  ["s3://b-1/offcut-2027-01-31T02-00-00Z/", "s3://b-1", "offcut-2027-01-31T02-00-00Z"],
  ["s3://b-1/x", "s3://b-1/x", null],
])("%s has a place and a name", (url, place, name) => {
  expect(splitBackupUrl(url)).toEqual({ place, name });
});

test("the last blob of a file has the rest", () => {
  const file = { path: "media/a", bytes: 10, sha256: "", modified_at: 0 };
  expect([0, 1, 2].map((index) => getBlobBytes(file, index, 4))).toEqual([4, 4, 2]);
});
