/**
 * Encodes stereo as mono while both channels are identical, and as stereo where they differ. This saves work for the
 * many recordings with one microphone, most at high bitrates. Each stretch has its own encoder (a session), and the
 * sessions are joined packet by packet.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type FfmpegChild, toFfmpegError } from "../ffmpeg";
import { findJoinPacket, PACKET_SAMPLES } from "./aac-chunks";
import { AacJoinError, type AacPacket, type AacTrackOptions, writeAacTrack } from "./aac-track";
import { readAdts } from "./adts";
import { findDualMonoMean, toChannelPair, toStereoConfig } from "./dual-mono";
import { type AudioSink, createSingleEncoderSink, startEncoder, toSampleBytes, toSamples } from "./sink";

/** Samples that a session encodes in advance, so that its rate control has settled at the join. Whole packets. */
const LOOKBACK_SAMPLES = 64 * PACKET_SAMPLES;
/**
 * After a difference, the channels must be identical for this long before mono is used again. The duration doubles each
 * time, because frequent changes cost more encoders than they save.
 */
const MIN_MONO_SECONDS = 20;
/** Last packets of a session that may be replaced by those of the next one. */
const HELD_PACKETS = LOOKBACK_SAMPLES / PACKET_SAMPLES;

type EncoderSession = {
  isMono: boolean;
  /** Channels of the encoder. */
  channels: number;
  encoder: FfmpegChild;
  /** Index of its first packet in the track. */
  from: number;
  samples: number;
};

const ADTS_OUTPUT = ["-flush_packets", "0", "-f", "adts", "pipe:1"];

/** Number of blocks that are examined before the first decision. */
const INITIAL_BLOCKS = 2;

/**
 * Returns a sink for `samples` of stereo: sessions if the audio starts with identical channels, otherwise a single
 * encoder. After earlier packets, it takes mono too, and always returns sessions: a single encoder would write the file
 * without them. Each written block contains whole packets, except for the last one. `end` throws `AacJoinError` if the
 * sessions cannot be joined.
 */
export function createAdaptiveStereoSink(options: AacTrackOptions): AudioSink {
  const initialBlocks: Uint8Array[] = [];
  let sink: AudioSink | null = null;
  const decide = async (): Promise<AudioSink> => {
    const isStereo = options.audioFormat.channels === 2;
    const isMono = isStereo && initialBlocks.every((block) => findDualMonoMean(toSamples(block)) !== null);
    sink =
      isMono || options.earlier !== undefined ? createSessionsSink(options, isMono) : createSingleEncoderSink(options);
    for (const block of initialBlocks.splice(0)) await sink.write(block);
    return sink;
  };
  return {
    async write(block) {
      if (sink !== null) return await sink.write(block);
      initialBlocks.push(block);
      if (initialBlocks.length === INITIAL_BLOCKS) await decide();
    },
    end: async () => await (sink ?? (await decide())).end(),
    abort: async (error) => (sink === null ? error : await sink.abort(error)),
  };
}

/** `startsMono`: the first two blocks have identical channels. */
function createSessionsSink(options: AacTrackOptions, startsMono: boolean): AudioSink {
  const { audioFormat, workDir, signal } = options;
  const stop = new AbortController();
  const combinedSignal = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const sessions = createQueue<EncoderSession>();
  let failure: { error: unknown } | null = null;
  const file = writeAacTrack(
    options,
    joinSessionPackets(sessions),
    join(workDir, `audio-${randomUUID()}.joined.mp4`),
    combinedSignal,
  );
  file.catch((error: unknown) => {
    failure ??= { error };
    stop.abort(error);
  });
  /** The most recent blocks, for a session that has to start with them. */
  let recent: { samples: Float32Array; mean: Float32Array | null; at: number }[] = [];
  let position = 0;
  let identicalSince = 0;
  let minMonoSamples = MIN_MONO_SECONDS * audioFormat.sampleRate;
  let current: EncoderSession | null = null;

  /** Ends the current session and starts the next one with the lookback samples. */
  const startSession = async (isMono: boolean): Promise<EncoderSession> => {
    await current?.encoder.stdin.end();
    const from = Math.max(0, position - LOOKBACK_SAMPLES);
    const session: EncoderSession = {
      isMono,
      channels: isMono ? 1 : audioFormat.channels,
      encoder: startEncoder({ ...options, signal: combinedSignal }, { isMono, output: ADTS_OUTPUT, stdout: "pipe" }),
      from: from / PACKET_SAMPLES,
      samples: 0,
    };
    current = session;
    sessions.push(session);
    for (const { samples, mean, at } of recent) {
      const skipped = Math.max(0, from - at);
      await writeSamples(session, samples.subarray(audioFormat.channels * skipped), mean?.subarray(skipped));
    }
    return session;
  };

  return {
    async write(block) {
      combinedSignal.throwIfAborted();
      const samples = toSamples(block);
      const mean = audioFormat.channels === 2 ? findDualMonoMean(samples) : null;
      const end = position + samples.length / audioFormat.channels;
      if (mean === null) identicalSince = end;
      const wasMono = current?.isMono ?? startsMono;
      const isMono = mean !== null && (wasMono || position - identicalSince > minMonoSamples);
      if (current?.isMono === false && isMono) minMonoSamples *= 2;
      const session = current?.isMono === isMono ? current : await startSession(isMono);
      await writeSamples(session, samples, mean ?? undefined);
      recent.push({ samples, mean, at: position });
      position = end;
      recent = recent.filter(
        ({ samples, at }) => at + samples.length / audioFormat.channels > position - LOOKBACK_SAMPLES,
      );
    },
    async end() {
      await current?.encoder.stdin.end();
      sessions.close();
      await file;
      signal?.throwIfAborted();
    },
    async abort(error) {
      const previous = failure;
      stop.abort(error);
      sessions.close();
      await file.catch(() => {});
      const outcome = await current?.encoder.outcome;
      if (previous !== null) return previous.error;
      return outcome?.ok === false ? toFfmpegError(outcome) : error;
    },
  };
}

async function writeSamples(
  session: EncoderSession,
  interleaved: Float32Array,
  mean: Float32Array | undefined,
): Promise<void> {
  const samples = session.isMono ? mean : interleaved;
  if (samples === undefined) throw new Error("The channels differ.");
  session.samples += samples.length / session.channels;
  await session.encoder.stdin.write(toSampleBytes(samples));
}

/** Yields the packets of a session as they are encoded, as stereo packets. */
async function* readSessionPackets(session: EncoderSession): AsyncGenerator<AacPacket[]> {
  let count = 0;
  try {
    for await (const { packets, config } of readAdts(session.encoder.stdout)) {
      count += packets.length;
      yield session.isMono
        ? packets.map((packet) => ({ data: toChannelPair(packet), config: toStereoConfig(config) }))
        : packets.map((data) => ({ data, config }));
    }
  } catch (error) {
    if ((await session.encoder.outcome).ok) throw new AacJoinError(String(error));
  }
  const outcome = await session.encoder.outcome;
  if (!outcome.ok) throw toFfmpegError(outcome);
  const expected = Math.ceil(session.samples / PACKET_SAMPLES) + 1;
  if (count !== expected) throw new AacJoinError(`A session has ${count} packets, expected ${expected}.`);
}

/** Yields the packets of all sessions. Between two sessions, a join is searched in their overlap. */
async function* joinSessionPackets(sessions: AsyncIterable<EncoderSession>): AsyncGenerator<AacPacket> {
  let previous: SessionPackets | null = null;
  for await (const session of sessions) {
    let packets: AacPacket[] = [];
    let { from } = session;
    /** Ends the previous session. */
    const join = (): AacPacket[] => {
      if (previous === null) return [];
      const at = getJoinPacket(previous, { from, packets });
      const ended = previous.packets.slice(0, at - previous.from);
      packets = packets.slice(at - from);
      [from, previous] = [at, null];
      return ended;
    };
    for await (const encoded of readSessionPackets(session)) {
      packets.push(...encoded);
      if (packets.length <= HELD_PACKETS) continue;
      yield* join();
      const final = Math.max(0, packets.length - HELD_PACKETS);
      yield* packets.splice(0, final);
      from += final;
    }
    yield* join();
    previous = { from, packets };
  }
  if (previous !== null) yield* previous.packets;
}

type SessionPackets = { from: number; packets: AacPacket[] };

function getJoinPacket(previous: SessionPackets, after: SessionPackets): number {
  const toChunk = ({ from, packets }: SessionPackets) => ({
    chunk: { from, to: from + packets.length },
    packets: packets.map(({ data }) => data),
  });
  const at = findJoinPacket(toChunk(previous), toChunk(after));
  if (at === null) throw new AacJoinError("Two sessions have no common window.");
  return at;
}

/** Returns a first-in, first-out queue for one reader. */
function createQueue<Value>(): AsyncIterable<Value> & { push(value: Value): void; close(): void } {
  const values: Value[] = [];
  let isClosed = false;
  let wake = () => {};
  return {
    push(value) {
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
