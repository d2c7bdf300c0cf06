/** The picture of the current playback, or the waveform of a recording without video. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { mediaUrl } from "../../app/api";
import { listenReconnect } from "../../app/connection";
import { findCaption, listCaptions } from "../../editor/model/captions";
import { findSpanIndex, fromSeconds } from "../../editor/model/plan";
import { findPlayedWord } from "../../editor/model/words";
import type { Waiting } from "../../editor/player/cut-player";
import type { PlayableMedia } from "../../editor/player/engine";
import { findDecodable, hasMediaSource } from "../../editor/player/media-source";
import { useEditor } from "../../editor/state/context";
import { hasCaptions } from "../../editor/state/player-settings";
import { findPeak } from "../../editor/timeline/peaks";
import { useSheets } from "../../editor/timeline/storyboard";
import { useCanvas } from "../../editor/timeline/use-canvas";
import { ActionButton, Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { ResultLine } from "./result-line";
import { type AssetMedia, describeWait } from "./use-media";

async function toPlayable(assetId: string, media: AssetMedia): Promise<PlayableMedia> {
  const { video_type, audio_type, frame_rate, source, is_preview_ready } = media;
  const frameRate = video_type === null || frame_rate === null ? null : frame_rate.num / frame_rate.den;
  const { video, audio } = source;
  return {
    pieceUrl: (track, variant, from, to, { seek, clean }) =>
      mediaUrl(assetId, `pieces/${track}`, {
        ...{ variant, from: String(from), to: String(to) },
        ...(seek !== undefined && { seek: String(seek) }),
        ...(clean !== undefined && { noise_reduction: clean }),
      }),
    previewUrl: mediaUrl(assetId, "preview"),
    videoType: video_type,
    audioType: audio_type,
    sourceTypes: await findDecodable({
      video: video && { type: video.type, video: { ...video, frameRate: frameRate ?? 30 } },
      audio: audio && { type: audio.type, audio: { channels: audio.channels, sampleRate: audio.sample_rate } },
    }),
    isPreviewReady: is_preview_ready,
    isTurned: (video?.rotation ?? 0) !== 0,
    sourceLines: (video?.starts ?? []).map(fromSeconds),
    frameRate,
  };
}

/**
 * Returns whether this browser can play the recording now. Without Media Source Extensions, it needs the whole preview.
 */
const isPlayable = (media: AssetMedia | null): media is AssetMedia =>
  media !== null && (media.is_preview_ready || (media.is_playable && hasMediaSource()));

const describeWaiting = (waiting: Waiting | null): string | null => {
  if (waiting === null || waiting === "buffering") return null;
  return "Waiting for the server…";
};

/** The result line above the picture. */
export const Stage = () => (
  <section class="stage" aria-label="Player">
    <ResultLine />
    <Picture />
  </section>
);

/** The ratio of a picture whose size is not known. */
const USUAL_RATIO = 16 / 9;

function Picture() {
  const { asset, media, playback } = useEditor();
  const video = useRef<HTMLVideoElement>(null);
  const frame = useRef<HTMLElement>(null);
  const isReady = isPlayable(media);
  useEffect(() => {
    if (!isReady) return;
    const attached = new AbortController();
    void toPlayable(asset.id, media).then((playable) => {
      if (attached.signal.aborted) return;
      const detach = playback.attach(video.current!, playable);
      attached.signal.addEventListener("abort", detach, { once: true });
    });
    return () => attached.abort();
  }, [isReady, playback, asset.id]);
  const isPreviewReady = media?.is_preview_ready === true;
  useEffect(() => {
    if (isPreviewReady) playback.player.usePreview();
  }, [isPreviewReady, playback]);
  const hasVideo = asset.type !== "audio";
  const ratio = asset.width && asset.height ? asset.width / asset.height : USUAL_RATIO;
  const { player } = playback;
  const error = player.error.value;
  const note = error ?? (isReady ? null : describeWait(media, asset)) ?? describeWaiting(player.waiting.value);
  return (
    <div class="view">
      <figure
        class={["picture", ratio < 1 && "is-upright", !isReady && "is-waiting"].filter(Boolean).join(" ")}
        ref={frame}
        style={hasVideo ? { "--ratio": ratio } : undefined}
      >
        {/* biome-ignore lint/a11y/useMediaCaption: the transcript beside it has every word with its time. */}
        <video
          ref={video}
          playsInline
          preload="auto"
          tabIndex={-1}
          aria-label="Video"
          onClick={() => playback.toggle()}
        />
        {hasVideo && !isReady && asset.state === "ready" && <Poster id={asset.id} />}
        {hasVideo ? <Still video={video} /> : <Envelope />}
        {(hasCaptions.value || !hasVideo) && <CaptionLine />}
        {hasVideo && (
          <div class="picture-tools">
            <ActionButton name="playback.captions" aria-pressed={hasCaptions.value} />
            <ActionButton name="playback.full-screen" />
          </div>
        )}
        {note !== null && (
          <div class="picture-note" role="status">
            <Icon name={error === null ? "info" : "warning"} />
            <p>{note}</p>
            {error !== null && <Button onClick={() => player.retry()}>Try again</Button>}
          </div>
        )}
      </figure>
    </div>
  );
}

/** Until there are frames, the picture of the recording. */
function Poster({ id }: { id: string }) {
  const [isMissing, setIsMissing] = useState(false);
  useEffect(() => (isMissing ? listenReconnect(() => setIsMissing(false)) : undefined), [isMissing]);
  return isMissing ? null : (
    <img class="still" src={mediaUrl(id, "poster")} alt="" onError={() => setIsMissing(true)} />
  );
}

/** The line that is being said. */
function CaptionLine() {
  const { editor, playback } = useEditor();
  const plan = editor.latePlan.value;
  const texts = editor.texts.value;
  const captions = useMemo(() => listCaptions(plan, editor.words, texts), [plan, editor, texts]);
  const shown = useSignal(captions);
  shown.value = captions;
  const text = useComputed(() => {
    const word = findPlayedWord(editor.plan.value, editor.words, playback.playhead.value);
    return findCaption(shown.value, word)?.text ?? "";
  });
  return (
    <figcaption class="caption" dir="auto" aria-hidden="true">
      {text}
    </figcaption>
  );
}

/** The frame at the playhead from the storyboard, until the video has its own. */
function Still({ video }: { video: { current: HTMLVideoElement | null } }) {
  const { strip, playback } = useEditor();
  const canvas = useRef<HTMLCanvasElement>(null);
  const isCovered = useSignal(true);
  const sheets = useSheets(() => request());
  const { storyboard } = strip;
  const request = useCanvas(canvas, () => ({
    width: storyboard?.width ?? 0,
    height: storyboard?.height ?? 0,
    draw: (context) => {
      if (storyboard === null) return;
      const { interval, count, width, height, columns, rows } = storyboard;
      const index = Math.min(count - 1, Math.floor(playback.playhead.peek() / fromSeconds(interval)));
      const onSheet = index % (columns * rows);
      const image = sheets.find(storyboard.getSheetUrl(Math.floor(index / (columns * rows))));
      if (image === null) return;
      const [x, y] = [(onSheet % columns) * width, Math.floor(onSheet / columns) * height];
      context.drawImage(image, x, y, width, height, 0, 0, width, height);
    },
  }));
  useEffect(() => {
    const element = video.current!;
    const update = () => {
      isCovered.value = element.readyState < HTMLMediaElement.HAVE_CURRENT_DATA;
    };
    // The browser itself shows the previous frame during a seek until the next one is decoded.
    element.addEventListener("loadeddata", update);
    element.addEventListener("emptied", update);
    return () => {
      element.removeEventListener("loadeddata", update);
      element.removeEventListener("emptied", update);
    };
  }, []);
  useSignalEffect(() => {
    if (playback.playhead.value >= 0 && isCovered.value) request();
  });
  return <canvas ref={canvas} class="still" role="img" aria-label="Frame at the playhead" hidden={!isCovered.value} />;
}

/** Microseconds per pixel of the waveform of a recording without video. */
const ENVELOPE_SCALE = 12_000;
const BAR = 3;
const BAR_STEP = 5;

/** The audio around the playhead. */
function Envelope() {
  const { strip, editor, playback } = useEditor();
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useRef({ width: 0, height: 0 });
  const request = useCanvas(canvas, () => ({
    ...size.current,
    draw: (context, colors) => {
      const { width, height } = size.current;
      context.clearRect(0, 0, width, height);
      if (strip.waveform === null) return;
      const plan = editor.plan.peek();
      const now = playback.playhead.peek();
      const step = BAR_STEP * ENVELOPE_SCALE;
      const start = now - (width / 2) * ENVELOPE_SCALE;
      for (let time = Math.floor(start / step) * step; time < start + width * ENVELOPE_SCALE; time += step) {
        if (time < 0 || time >= plan.duration) continue;
        const half = Math.max(1, findPeak(strip.waveform, time, time + step) * (height / 2 - 8));
        const span = plan.spans[findSpanIndex(plan, time)]!;
        context.globalAlpha = span.isKept ? 1 : 0.6;
        context.fillStyle = span.isKept ? colors.kept : colors.reasons[span.reason];
        context.fillRect((time - start) / ENVELOPE_SCALE, height / 2 - half, BAR, half * 2);
      }
      context.globalAlpha = 1;
      context.fillStyle = colors.playhead;
      context.fillRect(width / 2 - 1, 0, 2, height);
    },
  }));
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry)
        size.current = { width: Math.round(entry.contentRect.width), height: Math.round(entry.contentRect.height) };
      request();
    });
    observer.observe(canvas.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(() => {
    if (playback.playhead.value >= 0 && editor.plan.value) request();
  });
  return <canvas ref={canvas} class="envelope" role="img" aria-label="Audio around the playhead" />;
}
