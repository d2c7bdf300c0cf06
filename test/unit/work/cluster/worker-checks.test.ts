/** The checks of Redis and workers. */
import { expect, test } from "bun:test";
import { type CheckedWorker, describeRedis, describeWorkers } from "../../../../src/work/health/checks";

const REACHABLE = {
  host: "redis.example:6379",
  problem: null,
  version: "7.0.15",
  policy: "noeviction",
  isExposed: false,
};

test.each([
  ["one that works", REACHABLE, "ok", "redis.example:6379, version 7.0.15"],
  [
    "one that drops keys",
    { ...REACHABLE, policy: "allkeys-lru" },
    "warning",
    "maxmemory-policy to noeviction (now allkeys-lru)",
  ],
  ["one without TLS on another machine", { ...REACHABLE, isExposed: true }, "warning", "use rediss://"],
  [
    "one that does not respond",
    { host: "h:1", isExposed: false, problem: "connect ECONNREFUSED", version: null, policy: null },
    "broken",
    "h:1 cannot be used: connect ECONNREFUSED",
  ],
] as const)("Redis: %s", (_, redis, state, about) => {
  expect(describeRedis(redis)).toEqual({ state, about: expect.stringContaining(about) });
});

const SLOTS = { prepare: 2, cut: 2, render: 0, preview: 1 };
const BWRAP = { mode: "bwrap", reason: null } as const;
const DESK: CheckedWorker = { name: "desk", state: "online", jobs: ["render"], sandbox: BWRAP };
const OPEN: CheckedWorker = { ...DESK, sandbox: { mode: "none", reason: "bwrap is not installed" } };

test.each<[string, CheckedWorker[], object, string, string]>([
  ["one does what this machine does not", [DESK], {}, "ok", "1 online (desk)"],
  [
    "one has no sandbox",
    [OPEN],
    {},
    "warning",
    "1 online (desk). desk: none: media processes have network access and can read the files of this user (bwrap is not installed)",
  ],
  [
    "the one without a sandbox is offline",
    [{ ...OPEN, state: "offline" }],
    { slots: { ...SLOTS, render: 1 } },
    "ok",
    "1 offline (desk)",
  ],
  ["none is needed", [], { slots: { ...SLOTS, render: 1 } }, "ok", "none: create a token"],
  ["none is there", [], {}, "warning", "No worker does render (3 waiting), and this machine has no slots for it"],
  [
    "the one that could drains",
    [{ ...DESK, state: "draining" }],
    {},
    "warning",
    "1 draining (desk). No worker does render (3 waiting), and this machine has no slots for it: resume or start a worker",
  ],
  ["the one that could is offline", [{ ...DESK, state: "offline" }], {}, "warning", "1 offline (desk). No worker does"],
  [
    "the one that could has no Redis",
    [{ ...DESK, state: "no_redis" }],
    {},
    "warning",
    "1 cannot reach Redis (desk). No",
  ],
  ["they do other jobs", [{ ...DESK, jobs: ["cut"] }], {}, "warning", "No worker does render"],
  [
    "they lack what jobs need",
    [DESK],
    {
      shortages: [
        { job: "cut", lacks: "model", languages: ["de", "en"], bytes: 0, steps: 2 },
        { job: "render", lacks: "space", languages: [], bytes: 3 * 1024 ** 3, steps: 1 },
        { job: "prepare", lacks: "worker", languages: [], bytes: 0, steps: 4 },
      ],
    },
    "warning",
    "2 cut jobs need a worker with speech models for de, en (there: offcut models add); 1 render job needs a worker with 3.2 GB of free space; 4 prepare jobs need a worker",
  ],
])("workers: %s", (_, workers, change, state, about) => {
  const queue = { slots: SLOTS, pending: { render: 3 }, shortages: [], ...change };
  expect(describeWorkers(workers, queue)).toEqual({ state: state as "ok", about: expect.stringContaining(about) });
});
