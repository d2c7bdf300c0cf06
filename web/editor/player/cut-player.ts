/** Plays the cut and the source of a recording on one video element. Times are in microseconds. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { ApiError, toMessage } from "../../app/api";
import { type EditorPlan, listKept, type Range } from "../model/plan";
import type { CleanMode, Engine, PlayableMedia } from "./engine";
import { Jumper } from "./jumper";
import type { Delay } from "./load-piece";
import { canSplice } from "./media-source";
import { Splicer } from "./splicer";
import { clipToRange, getLength, type Piece, snapToFrames, toCutTime, toPieces, toSourceTime } from "./timeline";

export type PlayerMode = "cut" | "source";

/** Why playback is waiting: for data (`buffering`), for the preview, or for a server that does not respond. */
export type Waiting = "buffering" | Delay;

/** Playback restarts by itself after a failure, at most once in this time. */
const MIN_RESTART_MS = 10_000;

export class CutPlayer {
  private readonly state = {
    sourceTime: signal(0),
    cutTime: signal(0),
    length: signal(0),
    isPlaying: signal(false),
    isAttached: signal(false),
    mode: signal<PlayerMode>("cut"),
    rate: signal(1),
    error: signal<string | null>(null),
    isStarved: signal(false),
    delay: signal<Delay | null>(null),
  };
  readonly sourceTime: ReadonlySignal<number> = this.state.sourceTime;
  readonly cutTime: ReadonlySignal<number> = this.state.cutTime;
  /** Duration of the content that is played. */
  readonly length: ReadonlySignal<number> = this.state.length;
  readonly isPlaying: ReadonlySignal<boolean> = this.state.isPlaying;
  readonly isAttached: ReadonlySignal<boolean> = this.state.isAttached;
  readonly mode: ReadonlySignal<PlayerMode> = this.state.mode;
  readonly rate: ReadonlySignal<number> = this.state.rate;
  /** Why playback has failed, or null. */
  readonly error: ReadonlySignal<string | null> = this.state.error;
  readonly waiting: ReadonlySignal<Waiting | null> = computed(() =>
    this.state.isStarved.value ? (this.state.delay.value ?? "buffering") : null,
  );

  private plan: EditorPlan | null = null;
  /** If set, only this part is played, up to its end. */
  private range: Range | null = null;
  private pieces: readonly Piece[] = [];
  private media: PlayableMedia | null = null;
  private clean: CleanMode | null = null;
  private video: HTMLVideoElement | null = null;
  private engine: Engine | null = null;
  private frame = 0;
  /** The timer of the next backward step; null when not playing backward. */
  private backward: number | null = null;
  private restartedAt = Number.NEGATIVE_INFINITY;

  /** Called when a range has played to its end. */
  onRangeEnd: (() => void) | null = null;

  /** Whether a range is playing or paused. */
  get isInRange(): boolean {
    return this.range !== null;
  }

  /** The connected media, with the preview once it is used; null before the first connection. */
  readonly getMedia = (): PlayableMedia | null => this.media;

  /** Connects a video element. Returns a function that disconnects it. */
  attach(video: HTMLVideoElement, media: PlayableMedia): () => void {
    const attached = new AbortController();
    const { signal: ended } = attached;
    const { state } = this;
    this.video = video;
    this.media = media;
    const listen = (names: string[], listener: () => void) => {
      for (const name of names) video.addEventListener(name, listener, { signal: ended });
    };
    listen(["play"], () => this.onPlay());
    listen(["pause"], () => this.onPause());
    listen(["ended"], () => this.onEnded());
    listen(["error"], () => this.restart());
    listen(["loadedmetadata", "timeupdate", "seeking", "seeked"], () => this.update());
    listen(["waiting", "seeking", "playing", "canplay", "seeked", "emptied"], () => {
      state.isStarved.value = this.pieces.length > 0 && video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
    });
    this.start(state.sourceTime.peek());
    // Code that waits for this signal may start playback immediately.
    state.isAttached.value = true;
    return () => {
      attached.abort();
      this.stopRewind();
      this.onPause();
      this.engine?.dispose();
      this.engine = null;
      this.video = null;
      state.isAttached.value = false;
      state.isStarved.value = false;
    };
  }

  /** Ends a range before its end. The position stays. `setPlan` follows. */
  endRange(): void {
    this.range = null;
  }

  setPlan(plan: EditorPlan): void {
    this.plan = plan;
    this.show();
  }

  /** Preloads the media for a plan that may be set next, so that an edit at the playhead takes effect sooner. */
  prepare(plan: EditorPlan): void {
    if (this.state.mode.peek() !== "cut" || this.range !== null || !this.state.isPlaying.peek()) return;
    this.engine?.prepare(this.divide(this.snap(listKept(plan), plan.duration)));
  }

  /** Preloads parts of cuts that may be played with `playRange` next. */
  preload(parts: readonly { plan: EditorPlan; range: Range }[]): void {
    const pieces = parts.flatMap(({ plan, range }) =>
      this.divide(clipToRange(this.snap(listKept(plan), plan.duration), range)),
    );
    this.engine?.preload(pieces);
  }

  setMode(mode: PlayerMode): void {
    if (mode === this.state.mode.peek()) return;
    this.state.mode.value = mode;
    this.range = null;
    this.show();
  }

  play(mode: PlayerMode = this.state.mode.peek()): void {
    this.setMode(mode);
    this.resume();
  }

  pause(): void {
    this.stopRewind();
    this.video?.pause();
  }

  /**
   * Plays backward at a speed, without audio, because browsers handle negative rates differently. Stops at the start,
   * and on any other command.
   */
  rewind(rate: number): void {
    if (this.video === null || this.pieces.length === 0) return;
    this.pause();
    this.state.isPlaying.value = true;
    let last = performance.now();
    const step = (now: number) => {
      this.backward = requestAnimationFrame(step);
      if (this.video?.seeking !== false) return;
      this.seekCut(this.state.cutTime.peek() - (now - last) * 1000 * rate);
      last = now;
      if (this.state.cutTime.peek() === 0) this.pause();
    };
    this.backward = requestAnimationFrame(step);
  }

  private stopRewind(): void {
    if (this.backward === null) return;
    cancelAnimationFrame(this.backward);
    this.backward = null;
    this.state.isPlaying.value = false;
  }

  /** Plays a range of the source or its kept parts to its end. Its start is shown at once. `plan` replaces the plan. */
  playRange(range: Range, mode: PlayerMode = "source", plan = this.plan): void {
    this.plan = plan;
    this.state.mode.value = mode;
    this.range = range;
    this.show(range.start);
    this.setTime(this.pieces, toCutTime(this.pieces, range.start));
    this.resume();
  }

  /** Seeks to a source time; in a removed span, to the start of the next kept one. */
  seek(sourceTime: number): void {
    this.stopRewind();
    if (this.range !== null) {
      this.range = null;
      this.show(sourceTime);
    }
    this.seekCut(toCutTime(this.pieces, sourceTime));
  }

  /** Seeks forward or backward relative to the content that is played, across joins. */
  seekBy(time: number): void {
    this.stopRewind();
    this.seekCut(this.state.cutTime.peek() + time);
  }

  /**
   * Plays the preview from now on, which has become ready. A browser that turns frames would show some of the next ones
   * on their side, so such a source plays on.
   */
  usePreview(): void {
    if (this.media === null) return;
    const isSource = !this.media.isPreviewReady && this.media.sourceTypes.video !== null;
    this.media = { ...this.media, isPreviewReady: true };
    if (!(isSource && this.media.isTurned)) this.engine?.usePreview();
  }

  /** Plays audio with reduced noise, or as it was recorded with null, from now on. */
  setClean(mode: CleanMode | null): void {
    this.clean = mode;
    this.engine?.setClean(mode);
  }

  setRate(rate: number): void {
    this.state.rate.value = rate;
    if (this.video !== null) Object.assign(this.video, { defaultPlaybackRate: rate, playbackRate: rate });
  }

  /** Restarts after an error. */
  retry(): void {
    if (this.video === null) return;
    const wasPlaying = !this.video.paused;
    this.onPause();
    this.engine?.dispose();
    this.start(this.state.sourceTime.peek());
    if (wasPlaying) this.resume();
  }

  private seekCut(cutTime: number): void {
    this.setTime(this.pieces, cutTime);
    this.engine?.seek(this.state.sourceTime.peek());
  }

  private setTime(pieces: readonly Piece[], cutTime: number): void {
    const time = Math.max(0, Math.min(getLength(pieces), cutTime));
    this.state.cutTime.value = time;
    this.state.sourceTime.value = toSourceTime(pieces, time);
  }

  private start(sourceTime: number): void {
    const { video, media, state } = this;
    if (video === null || media === null) return;
    state.error.value = null;
    state.delay.value = null;
    const report = {
      onDelay: (delay: Delay | null) => {
        state.delay.value = delay;
      },
      onError: (error: unknown) => {
        if (!(error instanceof ApiError) && this.fallBack()) return;
        state.error.value = error instanceof Error && error.name !== "ApiError" ? error.message : toMessage(error);
      },
    };
    this.engine = canSplice(media) ? new Splicer(video, media, report) : new Jumper(video, media);
    this.engine.setClean(this.clean);
    this.setRate(state.rate.peek());
    this.show(sourceTime);
  }

  /**
   * Plays the preview instead of a source that the browser cannot decode after all. Returns whether it played the
   * source.
   */
  private fallBack(): boolean {
    const { media } = this;
    if (media === null || media.isPreviewReady) return false;
    if (media.sourceTypes.video === null && media.sourceTypes.audio === null) return false;
    this.media = { ...media, sourceTypes: { video: null, audio: null } };
    this.retry();
    return true;
  }

  private restart(): void {
    if (this.fallBack()) return;
    const now = performance.now();
    if (now - this.restartedAt < MIN_RESTART_MS) {
      this.state.error.value = "The browser cannot play this preview. Reload the page.";
      return;
    }
    this.restartedAt = now;
    this.retry();
  }

  /** Plays the content that the plan, the mode and the range select. */
  private show(sourceTime?: number): void {
    const { plan, state } = this;
    if (plan === null) return;
    const kept = state.mode.peek() === "source" ? [{ start: 0, end: plan.duration }] : listKept(plan);
    const snapped = this.snap(kept, plan.duration);
    this.pieces = this.divide(this.range === null ? snapped : clipToRange(snapped, this.range));
    state.length.value = getLength(this.pieces);
    if (this.pieces.length === 0) {
      this.pause();
      state.cutTime.value = 0;
    }
    this.engine?.show(this.pieces, sourceTime);
  }

  private divide(kept: readonly Range[]): Piece[] {
    const { media } = this;
    const isSource = media !== null && !media.isPreviewReady && media.sourceTypes.video !== null;
    return toPieces(kept, isSource ? media.sourceLines : null);
  }

  private snap(kept: readonly Range[], duration: number): Range[] {
    return snapToFrames(kept, this.media?.frameRate ?? null, duration);
  }

  private resume(): void {
    const { video, state } = this;
    this.stopRewind();
    if (video === null || this.pieces.length === 0) return;
    if (state.error.peek() !== null) this.retry();
    video.play().catch((error: unknown) => {
      if (error instanceof DOMException && error.name === "NotAllowedError")
        state.error.value = "The browser blocked playback. Press play again.";
    });
  }

  private update(): void {
    const { engine } = this;
    if (engine === null || engine.pieces.length === 0 || engine.openSeeks > 0) return;
    this.setTime(engine.pieces, engine.cutTime);
  }

  private onPlay(): void {
    this.state.isPlaying.value = true;
    const follow = () => {
      this.update();
      this.frame = requestAnimationFrame(follow);
    };
    cancelAnimationFrame(this.frame);
    follow();
  }

  private onPause(): void {
    cancelAnimationFrame(this.frame);
    // Backward playback pauses the element, which reports that later.
    this.state.isPlaying.value = this.backward !== null;
  }

  private onEnded(): void {
    this.onPause();
    if (this.range === null) return;
    const { end } = this.range;
    this.range = null;
    this.show(end);
    this.onRangeEnd?.();
  }
}
