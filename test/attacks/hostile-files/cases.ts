/** The shapes that the generator's parts share. */
import type { Bytes } from "./bytes";
import type { Random } from "./random";

/** Part of a file with its own header: a box, an element, a page, a chunk, a packet. Offsets in bytes. */
export type Structure = { name: string; start: number; headerEnd: number; end: number };

export const CONTAINERS = ["mp4", "mkv", "ogg", "flac", "wav", "mp3", "avi", "ts"] as const;
export type Container = (typeof CONTAINERS)[number];

/** A valid file of each container, and a fragmented MP4. */
export type BaseFiles = Record<Container | "fragmented", Bytes>;

/** Paths of files that no hostile file may make the product read. */
export type Targets = readonly string[];

/** One way to spoil a file. `isFirst` puts it among the few that are always tried. */
export type HostileCase = { name: string; isFirst?: boolean; make: (random: Random) => Bytes };

/** All that the generator must know of a container. */
export type ContainerCases = {
  cases: readonly HostileCase[];
  bases: readonly Bytes[];
  walk: (file: Bytes) => Structure[];
};

export const hostile = (name: string, make: (random: Random) => Bytes): HostileCase => ({ name, make });
export const hostileFirst = (name: string, make: (random: Random) => Bytes): HostileCase => ({
  name,
  make,
  isFirst: true,
});
