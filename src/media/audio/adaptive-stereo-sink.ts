/**
 * Encodes stereo as mono for as long as both channels are identical, and as stereo where they differ. That saves work for the many
 * recordings with one microphone, most at high bitrates. Each stretch has an encoder of its own, a session, and the sessions are joined
 * packet by packet.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { QUIET_ARGUMENTS } from "../arguments";
import { createWorkLimits, type FfmpegChild, startFfmpeg, toFfmpegError } from "../ffmpeg";
import { findJoinPacket, PACKET_SAMPLES } from "./aac-chunks";
import { AacJoinError, type AacPacket, type AacTrackOptions, writeAacTrack } from "./aac-track";
import { readAdts } from "./adts";
import { findDualMonoMean, toChannelPair, toStereoConfig } from "./dual-mono";
import { type AudioSink, buildEncoderArguments, buildSampleInputArguments, createSingleEncoderSink } from "./sink";

/** Samples that a session encodes before it is needed, so that its rate control has settled at the join. Whole packets. */
const LOOKBACK_SAMPLES = 64 * PACKET_SAMPLES;
/**
 * After a difference, the channels must be identical for this long before mono is used again. Each time the duration doubles: frequent
 * changes cost more encoders than they save.
 */
const MIN_MONO_SECONDS = 20;
/** Last packets of a session that may be replaced by those of the next one. */
const HELD_PACKETS = LOOKBACK_SAMPLES / PACKET_SAMPLES;

type EncoderSession = {
  isOne: boolean;
  encoder: FfmpegChild;
  /** Index of its first packet in the track. */
  from: number;
  /** Number of samples written to it. */
  samples: number;
};

/** Blocks that are examined before the first decision. */
const INITIAL_BLOCKS = 2;

/**
 * Returns a sink for `samples` of stereo: sessions when the audio starts with identical channels, else a single encoder. Each block written
 * contains whole packets, except for the last one. `end` throws `AacJoinError` when the sessions cannot be joined.
 */
export function createAdaptiveStereoSink(options: AacTrackOptions): AudioSink {
  const first: Uint8Array[] = [];
  let sink: AudioSink | null = null;
  const decide = async (): Promise<AudioSink> => {
    const isOne = first.every((block) => findDualMonoMean(toFloats(block)) !== null);
    sink = isOne ? createSessionsSink(options) : createSingleEncoderSink(options);
    for (const block of first.splice(0)) await sink.write(block);
    return sink;
  };
  return {
    async write(block) {
      if (sink !== null) return await sink.write(block);
      first.push(block);
      if (first.length === INITIAL_BLOCKS) await decide();
    },
    end: async () => await (sink ?? (await decide())).end(),
    abort: async (error) => (sink === null ? error : await sink.abort(error)),
  };
}

function createSessionsSink(options: AacTrackOptions): AudioSink {
  const { audioFormat: sound, workDir, signal } = options;
  const stop = new AbortController();
  const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const runs = createQueue<EncoderSession>();
  let failure: { error: unknown } | null = null;
  const file = writeAacTrack(
    options,
    joinSessionPackets(runs),
    join(workDir, `sound-${randomUUID()}.joined.mp4`),
    both,
  );
  file.catch((error: unknown) => {
    failure ??= { error };
    stop.abort(error);
  });
  /** The most recent blocks, for a session that has to start there. */
  let recent: { stereo: Float32Array; mean: Float32Array | null; at: number }[] = [];
  let position = 0;
  let alikeSince = 0;
  let patienceSamples = MIN_MONO_SECONDS * sound.sampleRate;
  let current: EncoderSession | null = null;

  /** Ends the current session and starts the next one with the lookback samples. */
  const begin = async (isOne: boolean): Promise<EncoderSession> => {
    await current?.encoder.stdin.end();
    const from = Math.max(0, position - LOOKBACK_SAMPLES);
    const run: EncoderSession = {
      isOne,
      encoder: startEncoder(options, isOne, both),
      from: from / PACKET_SAMPLES,
      samples: 0,
    };
    current = run;
    runs.put(run);
    for (const { stereo, mean, at } of recent) {
      const skipped = Math.max(0, from - at);
      await writeSamples(run, stereo.subarray(2 * skipped), mean?.subarray(skipped));
    }
    return run;
  };

  return {
    async write(block) {
      both.throwIfAborted();
      const stereo = toFloats(block);
      const mean = findDualMonoMean(stereo);
      const end = position + stereo.length / 2;
      if (mean === null) alikeSince = end;
      const isOne = mean !== null && (current?.isOne !== false || position - alikeSince > patienceSamples);
      if (current?.isOne === false && isOne) patienceSamples *= 2;
      const run = current?.isOne === isOne ? current : await begin(isOne);
      await writeSamples(run, stereo, mean ?? undefined);
      recent.push({ stereo, mean, at: position });
      position = end;
      recent = recent.filter(({ stereo, at }) => at + stereo.length / 2 > position - LOOKBACK_SAMPLES);
    },
    async end() {
      await current?.encoder.stdin.end();
      runs.close();
      await file;
      signal?.throwIfAborted();
    },
    async abort(error) {
      const before = failure;
      stop.abort(error);
      runs.close();
      await file.catch(() => {});
      const outcome = await current?.encoder.outcome;
      if (before !== null) return before.error;
      return outcome?.ok === false ? toFfmpegError(outcome) : error;
    },
  };
}

const toFloats = ({ buffer, byteOffset, length }: Uint8Array) => new Float32Array(buffer, byteOffset, length >> 2);

function startEncoder(options: AacTrackOptions, isOne: boolean, signal: AbortSignal): FfmpegChild {
  const { ffmpeg, audioFormat: sound, wallSeconds } = options;
  const input = buildSampleInputArguments(isOne ? { ...sound, channels: 1 } : sound);
  return startFfmpeg({
    ffmpeg,
    arguments: [
      ...QUIET_ARGUMENTS,
      ...input,
      ...buildEncoderArguments(options, isOne),
      "-flush_packets",
      "0",
      "-f",
      "adts",
      "pipe:1",
    ],
    limits: createWorkLimits(wallSeconds),
    stdin: "pipe",
    stdout: "pipe",
    signal,
  });
}

async function writeSamples(run: EncoderSession, stereo: Float32Array, mean: Float32Array | undefined): Promise<void> {
  const samples = run.isOne ? mean : stereo;
  if (samples === undefined) throw new Error("the channels are not alike");
  run.samples += stereo.length / 2;
  await run.encoder.stdin.write(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
}

/** Yields the packets of a session as they are encoded, as stereo packets. */
async function* readSessionPackets(run: EncoderSession): AsyncGenerator<AacPacket[]> {
  let count = 0;
  try {
    for await (const { packets, config } of readAdts(run.encoder.stdout)) {
      count += packets.length;
      yield run.isOne
        ? packets.map((packet) => ({ data: toChannelPair(packet), config: toStereoConfig(config) }))
        : packets.map((data) => ({ data, config }));
    }
  } catch (error) {
    if ((await run.encoder.outcome).ok) throw new AacJoinError(String(error));
  }
  const outcome = await run.encoder.outcome;
  if (!outcome.ok) throw toFfmpegError(outcome);
  const wanted = Math.ceil(run.samples / PACKET_SAMPLES) + 1;
  if (count !== wanted) throw new AacJoinError(`${count} packets, not ${wanted}`);
}

/** Yields the packets of all sessions. Between two sessions, a join is searched in their overlap. */
async function* joinSessionPackets(runs: AsyncIterable<EncoderSession>): AsyncGenerator<AacPacket> {
  let before: { from: number; packets: AacPacket[] } | null = null;
  for await (const run of runs) {
    let packets: AacPacket[] = [];
    let { from } = run;
    for await (const more of readSessionPackets(run)) {
      packets.push(...more);
      if (packets.length <= HELD_PACKETS) continue;
      if (before !== null) {
        const at = getJoinPacket(before, { from, packets });
        yield* before.packets.slice(0, at - before.from);
        packets = packets.slice(at - from);
        from = at;
        before = null;
      }
      const sure = Math.max(0, packets.length - HELD_PACKETS);
      yield* packets.splice(0, sure);
      from += sure;
    }
    if (before !== null) {
      const at = getJoinPacket(before, { from, packets });
      yield* before.packets.slice(0, at - before.from);
      packets = packets.slice(at - from);
      from = at;
    }
    before = { from, packets };
  }
  if (before !== null) yield* before.packets;
}

type SessionPackets = { from: number; packets: AacPacket[] };

function getJoinPacket(before: SessionPackets, after: SessionPackets): number {
  const partOf = ({ from, packets }: SessionPackets) => ({
    part: { from, to: from + packets.length },
    packets: packets.map(({ data }) => data),
  });
  const at = findJoinPacket(partOf(before), partOf(after));
  if (at === null) throw new AacJoinError("two runs are cut up differently");
  return at;
}

/** Returns a first-in, first-out queue for one reader. */
function createQueue<Value>(): AsyncIterable<Value> & { put(value: Value): void; close(): void } {
  const values: Value[] = [];
  let isClosed = false;
  let wake = () => {};
  return {
    put(value) {
      values.push(value);
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (values.length > 0) yield values.shift()!;
        if (isClosed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
