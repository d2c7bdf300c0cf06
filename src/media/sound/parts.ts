/** Encodes long AAC in parts, several at a time, and joins them into one file. */
import { randomUUID } from "node:crypto";
import { type FileHandle, open as openFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { EncodedAudioPacketSource, EncodedPacket, FilePathTarget, Mp4OutputFormat, Output } from "mediabunny";
import { outputFile, QUIET } from "../arguments";
import { soundEncoderArguments } from "../encoder-arguments";
import { runFfmpeg, workLimits } from "../ffmpeg";
import { configOfAdts, divideIntoParts, joinOf, PACKET_SAMPLES, type Part, packetsOfAdts } from "./aac-parts";
import { containerArguments, type SinkOptions, type SoundSink, samplesArguments } from "./sink";

/** The parts do not fit together; one encoder must do it all. */
export class NoJoin extends Error {}

/** About a minute: long beside what starting an encoder costs, short enough for every core to have some. */
const PART_PACKETS = 2_800;

/** With fewer cores the decoder and the slicer have the others already. */
const LANES_LEAST = 3;

/** Whether so many samples are worth being encoded in parts, so many at a time. */
export const isWorthParts = (samples: number, lanes: number): boolean =>
  lanes >= LANES_LEAST && samples > 1.5 * PART_PACKETS * PACKET_SAMPLES;

type Encoded = { part: Part; packets: Uint8Array[]; config: Uint8Array };

/**
 * Encoders for `samples` of one or two channels, `lanes` at a time. The work folder holds the samples of as many parts. `end` throws `NoJoin`
 * when the parts do not fit together.
 */
export function partsSink(options: SinkOptions & { samples: number; lanes: number }): SoundSink {
  const { sound, samples, lanes, signal } = options;
  const stop = new AbortController();
  const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const prefix = join(options.workDir, `sound-${randomUUID()}`);
  const bytesEach = 4 * sound.channels;
  const parts = divideIntoParts(samples, PART_PACKETS);
  const encoded = parts.map(() => Promise.withResolvers<Encoded>());
  for (const { promise } of encoded) promise.catch(() => {});
  // Whoever waits for a part that will never come must not wait for ever.
  both.addEventListener("abort", () => {
    for (const { reject } of encoded) reject(both.reason);
  });
  const file = writeParts(
    options,
    `${prefix}.joined.mp4`,
    encoded.map(({ promise }) => promise),
    both,
  );
  file.catch((error: unknown) => stop.abort(error));
  /** Parts that are being filled, in order; each holds what the next one begins with too. */
  const open: OpenPart[] = [];
  const running = new Set<Promise<void>>();
  let next = 0;
  let position = 0;

  const encode = async ({ n, path, file }: OpenPart): Promise<void> => {
    try {
      await file.close();
      encoded[n]!.resolve(await encodePart(options, parts[n]!, path, both));
    } catch (error) {
      encoded[n]!.reject(error);
      stop.abort(error);
    } finally {
      await rm(path, { force: true });
    }
  };

  return {
    async write(chunk) {
      both.throwIfAborted();
      const end = position + chunk.length / bytesEach;
      for (; next < parts.length && parts[next]!.first < end; next++) {
        const { first, last } = parts[next]!;
        const path = `${prefix}.samples-${next}`;
        open.push({ n: next, path, file: await openFile(path, "w"), left: (last - first) * bytesEach });
      }
      for (const part of open) {
        const from = Math.max(0, (parts[part.n]!.first - position) * bytesEach);
        const taken = chunk.subarray(from, from + part.left);
        await part.file.writeFile(taken);
        part.left -= taken.length;
      }
      position = end;
      while (open[0]?.left === 0) {
        const part = open.shift()!;
        while (running.size >= lanes) await Promise.race(running);
        const run: Promise<void> = encode(part).finally(() => running.delete(run));
        running.add(run);
      }
    },
    async end() {
      if (open.length > 0 || next < parts.length) throw new Error("there is less sound than was said");
      await file;
      signal?.throwIfAborted();
    },
    async abort(error) {
      stop.abort(error);
      await Promise.all(running);
      for (const part of open.splice(0)) {
        await part.file.close();
        await rm(part.path, { force: true });
      }
      await file.catch(() => {});
      // Whoever stopped the others first knows why.
      return stop.signal.reason ?? error;
    },
  };
}

type OpenPart = { n: number; path: string; file: FileHandle; left: number };

/** From a file: it is read as fast as the encoder can, however busy this process is. */
async function encodePart(options: SinkOptions, part: Part, path: string, signal: AbortSignal): Promise<Encoded> {
  const { ffmpeg, sound, bitrate, wallSeconds } = options;
  const encodedPath = `${path}.aac`;
  try {
    await runFfmpeg({
      ffmpeg,
      arguments: [
        ...[...QUIET, ...samplesArguments(sound, `file:${path}`), ...soundEncoderArguments("m4a", bitrate)],
        ...["-f", "adts", ...outputFile(encodedPath)],
      ],
      limits: workLimits(wallSeconds),
      signal,
    });
    const stream = await Bun.file(encodedPath).bytes();
    const packets = readPackets(stream);
    const wanted = part.to - part.from;
    if (packets.length !== wanted) throw new NoJoin(`${packets.length} packets, not ${wanted}`);
    return { part, packets, config: configOfAdts(stream) };
  } finally {
    await rm(encodedPath, { force: true });
  }
}

function readPackets(stream: Uint8Array): Uint8Array[] {
  try {
    return packetsOfAdts(stream);
  } catch (error) {
    throw new NoJoin(String(error));
  }
}

async function writeParts(
  options: SinkOptions & { samples: number },
  joinedPath: string,
  encoded: readonly Promise<Encoded>[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await writeTrack(options, encoded, joinedPath);
    await runFfmpeg({
      ffmpeg: options.ffmpeg,
      arguments: [
        ...[...QUIET, "-protocol_whitelist", "file,pipe", "-f", "mov", "-i", `file:${joinedPath}`],
        ...["-map", "0:a:0", "-c", "copy", "-map_metadata", "-1"],
        ...[...containerArguments(options.format), ...outputFile(options.path)],
      ],
      limits: workLimits(options.wallSeconds),
      signal,
    });
  } finally {
    await rm(joinedPath, { force: true });
  }
}

/** All packets as one track; the first one lies before the beginning, and the last one is as long as what is left. */
async function writeTrack(
  { sound, samples }: SinkOptions & { samples: number },
  encoded: readonly Promise<Encoded>[],
  path: string,
): Promise<void> {
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target: new FilePathTarget(path) });
  const track = new EncodedAudioPacketSource("aac");
  output.addAudioTrack(track);
  await output.start();
  const config = (description: Uint8Array) => ({
    decoderConfig: { codec: "mp4a.40.2", numberOfChannels: sound.channels, sampleRate: sound.rate, description },
  });
  try {
    let n = 0;
    for await (const { data, description } of joinedPackets(encoded)) {
      const start = (n - 1) * PACKET_SAMPLES;
      const length = Math.min(PACKET_SAMPLES, samples - start);
      const packet = new EncodedPacket(data, "key", start / sound.rate, length / sound.rate);
      await track.add(packet, n === 0 ? config(description) : undefined);
      n++;
    }
    await output.finalize();
  } catch (error) {
    await output.cancel().catch(() => {});
    throw error;
  }
}

async function* joinedPackets(encoded: readonly Promise<Encoded>[]) {
  let from = 0;
  for (const [n, promise] of encoded.entries()) {
    const current = await promise;
    const following = await encoded[n + 1];
    const to = following === undefined ? current.part.to : joinOf(current, following);
    if (to === null) throw new NoJoin("two parts are cut up differently");
    for (let k = from; k < to; k++)
      yield { data: current.packets[k - current.part.from]!, description: current.config };
    from = to;
  }
}
