/** The talks to be cut: our own screenplays, and those of an evaluation folder outside the project. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { decodeAudio, joined, recordingsOf } from "../speech/material";
import { type Event, perform, type Screenplay, type Talk } from "./talk";

const OWN_CASES = join(import.meta.dir, "cases");

/** Our own talks. */
export async function ownTalks(): Promise<Talk[]> {
  const files = (await readdir(OWN_CASES)).filter((name) => name.endsWith(".json")).sort();
  return Promise.all(
    files.map(async (name) =>
      perform(basename(name, ".json"), (await Bun.file(join(OWN_CASES, name)).json()) as Screenplay),
    ),
  );
}

type Made = { samples: Float32Array; truth: { events: Event[] }; script?: string[] };
type TalkModule = { makeTalk: (play: { script: string[] }) => Made };
type SpliceModule = { splice: (play: unknown, folder: string) => Promise<Made> };

/**
 * The talks of an evaluation folder: its `cases/*.json` performed by its own `talk.ts` and `splice.ts` (these take recordings from
 * `speech`), and finished talks that lie in it (`NAME.wav`, `NAME.truth.json`, `NAME.script.txt`).
 */
export async function folderTalks(folder: string, speech: string | null): Promise<Talk[]> {
  const talks: Talk[] = [];
  const cases = existsSync(join(folder, "cases")) ? (await readdir(join(folder, "cases"))).sort() : [];
  for (const file of cases.filter((name) => name.endsWith(".json"))) {
    const play = (await Bun.file(join(folder, "cases", file)).json()) as { script?: string[]; clips?: unknown[] };
    const name = basename(file, ".json");
    if (play.script) {
      const module = (await import(join(folder, "talk.ts"))) as TalkModule;
      talks.push(talkOf(name, module.makeTalk({ ...play, script: play.script }), play.script));
    } else if (play.clips && speech) {
      const module = (await import(join(folder, "splice.ts"))) as SpliceModule;
      const made = await module.splice(play, speech);
      talks.push(talkOf(name, made, made.script ?? []));
    }
  }
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".truth.json")).sort()) {
    const base = join(folder, basename(file, ".truth.json"));
    const truth = (await Bun.file(`${base}.truth.json`).json()) as { events: Event[] };
    const script = await Bun.file(`${base}.script.txt`).text();
    talks.push({ name: basename(base), samples: decodeAudio(`${base}.wav`), script, events: truth.events });
  }
  return talks;
}

const talkOf = (name: string, made: Made, script: string[]): Talk => ({
  name,
  samples: made.samples,
  script: script.join("\n"),
  events: made.truth.events,
});

/** A fluent recording of which nothing that is said may go. */
export type Null = { name: string; samples: Float32Array; script: string };

const PAUSE_SECONDS = 0.5;

/** The nulls that a folder of recordings gives: one for each reader, the clips in order with half a second between them. */
export async function folderNulls(speech: string): Promise<Null[]> {
  const readers = Map.groupBy(await recordingsOf(speech), (clip) => /^[A-Za-z]+\d*/.exec(clip.name)?.[0] ?? clip.name);
  return [...readers].map(([reader, clips]) => ({
    name: `fluent-${reader}`,
    samples: joined(PAUSE_SECONDS, ...clips.flatMap((clip) => [clip.samples, PAUSE_SECONDS])),
    script: clips.map((clip) => clip.text).join("\n"),
  }));
}
