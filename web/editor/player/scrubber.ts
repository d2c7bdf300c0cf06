/** Plays short grains of the audio while the playhead is dragged or moves by frames. Times are in microseconds. */
import { fromSeconds, toSeconds } from "../model/plan";
import type { CleanMode, PlayableMedia } from "./engine";
import { readPiece } from "./load-piece";

const GRAIN_SECONDS = 0.08;
/** Grains fade in and out, so that they do not click. */
const FADE_SECONDS = 0.01;
/** Minimum time between the starts of two grains. */
const GRAIN_DISTANCE_MS = 60;
/** Length of the blocks in which audio is loaded and decoded. */
const BLOCK = 4_000_000;
/** Maximum number of decoded blocks in memory, about 1.5 MB each. */
const MAX_BLOCKS = 6;
/** Maximum number of grains at once. Only a context that the browser has not started reaches it. */
const MAX_GRAINS = 4;
/** Time after which audio is requested again if the server was busy or the request failed. */
const RETRY_MS = 500;

type Block = { audio: AudioBuffer; start: number };
type Place = { time: number; volume: number; clean: CleanMode | null };

export class Scrubber {
  private context: AudioContext | null = null;
  /** Decoded blocks by URL, the last used one at the end. Null for a block without audio. */
  private readonly blocks = new Map<string, Block | null>();
  /** The last requested place, until it plays. */
  private wanted: Place | null = null;
  private grain: { source: AudioBufferSourceNode; gain: GainNode } | null = null;
  private grains = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isWaiting = false;
  private isLoading = false;
  /** The timer of the next request after one without audio. */
  private retry: ReturnType<typeof setTimeout> | null = null;
  private readonly disposed = new AbortController();

  /** `getMedia` returns the media that is played now, `getDuration` the duration of the recording. */
  constructor(
    private readonly getMedia: () => PlayableMedia,
    private readonly getDuration: () => number,
  ) {}

  /** Plays a grain at a time, as soon as its audio is loaded. A later call replaces one that has not played. */
  play(time: number, volume: number, clean: CleanMode | null): void {
    this.wanted = { time, volume, clean };
    this.playWanted();
  }

  /** Stops the grain, and drops one that has not played. */
  stop(): void {
    this.wanted = null;
    const { grain, context } = this;
    if (grain === null || context === null) return;
    grain.gain.gain.setTargetAtTime(0, context.currentTime, FADE_SECONDS / 3);
    grain.source.stop(context.currentTime + FADE_SECONDS);
  }

  dispose(): void {
    this.stop();
    clearTimeout(this.timer);
    if (this.retry !== null) clearTimeout(this.retry);
    this.disposed.abort();
    this.blocks.clear();
    void this.context?.close();
    this.context = null;
  }

  private playWanted(): void {
    const { wanted } = this;
    if (wanted === null || this.isWaiting) return;
    const url = this.getUrl(wanted);
    const block = this.blocks.get(url);
    if (block === undefined) return void this.load(url);
    this.wanted = null;
    if (block === null) return;
    this.blocks.delete(url);
    this.blocks.set(url, block);
    this.start(block, wanted);
    this.isWaiting = true;
    this.timer = setTimeout(() => {
      this.isWaiting = false;
      this.playWanted();
    }, GRAIN_DISTANCE_MS);
  }

  private start({ audio, start }: Block, { time, volume }: Place): void {
    const offset = toSeconds(time - start);
    if (offset < 0 || offset >= audio.duration || this.grains >= MAX_GRAINS) return;
    const context = this.getContext();
    const source = new AudioBufferSourceNode(context, { buffer: audio });
    const gain = new GainNode(context, { gain: 0 });
    const now = context.currentTime;
    gain.gain.linearRampToValueAtTime(volume, now + FADE_SECONDS);
    gain.gain.setValueAtTime(volume, now + GRAIN_SECONDS - FADE_SECONDS);
    gain.gain.linearRampToValueAtTime(0, now + GRAIN_SECONDS);
    source.connect(gain).connect(context.destination);
    const grain = { source, gain };
    this.grain = grain;
    this.grains++;
    source.addEventListener("ended", () => {
      source.disconnect();
      gain.disconnect();
      this.grains--;
      if (this.grain === grain) this.grain = null;
      // An idle context would keep the audio device open.
      if (this.grains === 0 && context.state === "running") void context.suspend();
    });
    void context.resume();
    source.start(now, offset, GRAIN_SECONDS);
  }

  /** Loads one block at a time, then the one that is wanted by then. */
  private async load(url: string): Promise<void> {
    if (this.isLoading || this.retry !== null) return;
    this.isLoading = true;
    const { signal } = this.disposed;
    try {
      const attempt = await readPiece(url, signal);
      if (attempt.kind !== "loaded") return this.retryLater();
      const bytes = attempt.sections[0]?.bytes;
      const start = bytes === undefined ? null : readStart(bytes);
      const block = start === null ? null : { start, audio: await this.getContext().decodeAudioData(bytes!) };
      this.blocks.set(url, block);
    } catch {
      // The playhead moves in silence. A later call requests the block again.
      this.wanted = null;
      return this.retryLater();
    } finally {
      this.isLoading = false;
    }
    for (const old of [...this.blocks.keys()].slice(0, -MAX_BLOCKS)) this.blocks.delete(old);
    if (!signal.aborted) this.playWanted();
  }

  private retryLater(): void {
    if (this.disposed.signal.aborted) return;
    this.retry = setTimeout(() => {
      this.retry = null;
      this.playWanted();
    }, RETRY_MS);
  }

  private getContext(): AudioContext {
    this.context ??= new AudioContext();
    return this.context;
  }

  private getUrl({ time, clean }: Place): string {
    const { isPreviewReady, sourceTypes, pieceUrl } = this.getMedia();
    const variant = isPreviewReady || sourceTypes.audio === null ? "preview" : "source";
    const start = toBlock(time);
    const end = Math.min(this.getDuration(), start + BLOCK);
    return pieceUrl("audio", variant, toSeconds(start), toSeconds(end), clean === null ? {} : { clean });
  }
}

const toBlock = (time: number): number => Math.floor(time / BLOCK) * BLOCK;

/** Returns the time of the first packet of a fragmented MP4 with one track; null without packets. */
export function readStart(bytes: ArrayBuffer): number | null {
  const view = new DataView(bytes);
  const media = findBox(view, "mdhd");
  const fragment = findBox(view, "tfdt");
  if (media === null || fragment === null) return null;
  // In version 1, both boxes have 64-bit times. The times of the media box precede its timescale.
  const timescale = view.getUint32(media + (view.getUint8(media) === 1 ? 20 : 12));
  const time = view.getUint8(fragment) === 1 ? Number(view.getBigUint64(fragment + 4)) : view.getUint32(fragment + 4);
  return timescale === 0 ? null : Math.round(fromSeconds(time / timescale));
}

/** Returns the offset of the content of the first box of a type, or null. */
function findBox(view: DataView, type: string): number | null {
  const code = [...type].reduce((all, character) => all * 256 + character.charCodeAt(0), 0);
  for (let at = 4; at + 28 < view.byteLength; at++) if (view.getUint32(at) === code) return at + 4;
  return null;
}
