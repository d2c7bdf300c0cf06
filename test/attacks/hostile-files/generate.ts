/** Generates hostile media files: deterministic for a seed, spread over containers and over ways to spoil a file. */
import { aviCases } from "./avi-cases";
import { type Bytes, padTo } from "./bytes";
import { type BaseFiles, CONTAINERS, type Container, type ContainerCases, type Targets } from "./cases";
import { flacCases } from "./flac-cases";
import { GENERIC, spoil } from "./generic-cases";
import { matroskaCases } from "./matroska-cases";
import { mp3Cases } from "./mp3-cases";
import { mp4Cases } from "./mp4-cases";
import { oggCases } from "./ogg-cases";
import { polyglots } from "./polyglots";
import { createRandom, seedOf } from "./random";
import { tsCases } from "./ts-cases";
import { wavCases } from "./wav-cases";

/** `name` contains the container and the mutation. With the seed, it is enough to recreate the file. */
export type HostileFile = { name: string; container: Container; isFirst: boolean; make: () => Bytes };

const CASES: Record<Container, (bases: BaseFiles, targets: Targets) => ContainerCases> = {
  mp4: mp4Cases,
  mkv: matroskaCases,
  ogg: oggCases,
  flac: flacCases,
  wav: wavCases,
  mp3: mp3Cases,
  avi: aviCases,
  ts: tsCases,
};

/** Number of files of each container among 400. Containers with more features have more. */
const SHARES: Record<Container, number> = { mp4: 100, mkv: 64, ogg: 36, flac: 38, wav: 40, mp3: 40, avi: 42, ts: 40 };
const TOTAL = 400;
/** The smallest file that can be uploaded. */
const MIN_BYTES = 64;
/** Number of generic mutations among ten files of a container. The others are specific to it. */
const GENERIC_OF_TEN = 3;
const POLYGLOTS = 3;

export type GeneratorOptions = { bases: BaseFiles; targets: Targets; seed: number; count?: number };

/** The files. Those that are always tried come first in each container, the others in the order of the seed. */
export function hostileFiles({ bases, targets, seed, count = TOTAL }: GeneratorOptions): HostileFile[] {
  return CONTAINERS.flatMap((container) => {
    const quota = Math.round((SHARES[container] * count) / TOTAL);
    const spoiled = CASES[container](bases, targets);
    const others = CONTAINERS.filter((name) => name !== container).map((name) => bases[name]);
    const file = (name: string, make: (seed: number) => Bytes, isFirst = false): HostileFile => {
      const whole = `${container}: ${name}`;
      return { name: whole, container, isFirst, make: () => padTo(make(seedOf(seed, whole)), MIN_BYTES) };
    };
    const own = spoiled.cases.map(({ name, make, isFirst = false }) =>
      file(name, (n) => make(createRandom(n)), isFirst),
    );
    const ordered = [
      ...own.filter((found) => found.isFirst),
      ...shuffle(
        own.filter((found) => !found.isFirst),
        seed,
      ),
    ];
    const shaped = shuffle(polyglots(container, targets), seedOf(seed, container));
    const ways = Object.keys(GENERIC);
    const generic = (n: number) => {
      const way = ways[(n + seedOf(seed, container)) % ways.length]!;
      return file(`${way} (${n})`, (s) => spoil(way, spoiled, others, createRandom(s)));
    };
    const chosen = ordered.slice(0, Math.ceil((quota * (10 - GENERIC_OF_TEN)) / 10) - POLYGLOTS);
    const mixed = shaped.slice(0, POLYGLOTS).map(({ name, bytes }) => file(name, () => bytes));
    const rest = Array.from({ length: quota - chosen.length - mixed.length }, (_, n) => generic(n));
    return [...chosen, ...mixed, ...rest];
  });
}

/**
 * A few of them: as many of each container, among them those that are always tried, a polyglot and ways that differ.
 */
export function chooseFew(files: readonly HostileFile[], count: number): HostileFile[] {
  const each = Math.floor(count / CONTAINERS.length);
  return CONTAINERS.flatMap((container, n) => {
    const mine = files.filter((file) => file.container === container);
    const first = mine.filter((file) => file.isFirst).slice(0, Math.ceil(each / 2));
    const rest = mine.filter((file) => !first.includes(file));
    const step = rest.length / (each - first.length);
    const others = Array.from(
      { length: each - first.length },
      (_, k) => rest[Math.floor((k + (n + 0.5) / CONTAINERS.length) * step)]!,
    );
    return [...first, ...others];
  });
}

function shuffle<T>(items: readonly T[], seed: number): T[] {
  const random = createRandom(seed);
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0]!);
}
