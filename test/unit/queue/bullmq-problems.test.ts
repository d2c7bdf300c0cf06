import { expect, test } from "bun:test";
import { CLOSED, findRedisAdvice, findRedisProblem } from "../../../src/queue/bullmq-problems";

const reply = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });

test.each([
  [reply("WRONGPASS invalid username-password pair or user is disabled."), "WRONGPASS"],
  [reply("NOPERM User low has no permissions to run the 'evalsha' command"), "NOPERM"],
  [reply("ERR Error running script: -OOM command not allowed when used memory > 'maxmemory'."), "OOM"],
  [reply("ERR unknown command"), "ERR"],
  [Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:6379"), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
  [new Error("Connection is closed."), CLOSED],
  [null, CLOSED],
])("the problem of %s", (error, code) => {
  expect(findRedisProblem(error)).toBe(code);
});

test("advice is known for what Redis refuses", () => {
  expect(findRedisAdvice("NOPERM")).toContain("ACL");
  for (const code of ["ECONNRESET", "EPIPE"]) expect(findRedisAdvice(code)).toContain("rediss://");
  expect(findRedisAdvice("ECONNABORTED")).toBeUndefined();
});
