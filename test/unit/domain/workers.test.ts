import { expect, test } from "bun:test";
import { findShortage, type OnlineWorker, type PlaceNeeds } from "../../../src/domain/places";
import type { WorkerAnnouncement } from "../../../src/domain/worker-messages";
import { WORKER_PROTOCOL } from "../../../src/domain/workers";

const worker = (change: Partial<OnlineWorker>, announced: Partial<WorkerAnnouncement> = {}): OnlineWorker => ({
  id: "w",
  freeBytes: 1_000,
  isDraining: false,
  hasRedis: true,
  announcement: {
    protocol: WORKER_PROTOCOL,
    version: "0.1.0",
    bootId: "boot",
    jobs: ["prepare", "cut"],
    slots: 1,
    encoding: { ffmpeg: "6.1", libavutil: 58, encoder: "none", hasZscale: true },
    sandbox: { mode: "bwrap", reason: null },
    languages: ["en"],
    freeBytes: 1_000,
    ...announced,
  },
  ...change,
});
const needs = (change: Partial<PlaceNeeds>): PlaceNeeds => ({
  job: "cut",
  languages: ["en"],
  bytes: 500,
  ...change,
});

test.each<[string, OnlineWorker[], PlaceNeeds, ReturnType<typeof findShortage>]>([
  ["one can do it", [worker({ freeBytes: 1 }), worker({})], needs({}), null],
  ["there is none", [], needs({}), { lacks: "worker", languages: [], bytes: 0 }],
  ["all drain", [worker({ isDraining: true })], needs({}), { lacks: "worker", languages: [], bytes: 0 }],
  ["none reaches Redis", [worker({ hasRedis: false })], needs({}), { lacks: "worker", languages: [], bytes: 0 }],
  ["none has an encoder", [worker({})], needs({ job: "render" }), { lacks: "worker", languages: [], bytes: 0 }],
  [
    "no worker has all models",
    [worker({}), worker({}, { languages: ["de"] })],
    needs({ languages: ["de", "en"] }),
    { lacks: "model", languages: ["de", "en"], bytes: 0 },
  ],
  [
    "the worker with the model has no space",
    [worker({}), worker({ freeBytes: 1 }, { languages: ["de"] })],
    needs({ languages: ["de"] }),
    { lacks: "space", languages: [], bytes: 500 },
  ],
])("what workers lack when %s", (_, workers, what, shortage) => {
  expect(findShortage(workers, what)).toEqual(shortage);
});
