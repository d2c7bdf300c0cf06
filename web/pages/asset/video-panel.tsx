import { useEffect, useRef } from "preact/hooks";
import { mediaUrl } from "../../app/media-url";
import { fromSeconds } from "../../editor/model/plan";
import type { Waiting } from "../../editor/player/cut-player";
import { findDecodable } from "../../editor/player/decodable";
import type { PlayableMedia } from "../../editor/player/engine";
import { hasMediaSource } from "../../editor/player/media-source";
import type { Playback } from "../../editor/state/playback";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import type { Asset } from "./asset";
import { findSize, panelSizes } from "./panel-sizes";
import { type AssetMedia, describeWait } from "./use-media";

type VideoPanelProps = { asset: Asset; media: AssetMedia | null; playback: Playback };

async function toPlayable(assetId: string, media: AssetMedia): Promise<PlayableMedia> {
  const { video_type, audio_type, frame_rate, source, is_preview_ready } = media;
  const frameRate = video_type === null || frame_rate === null ? null : frame_rate.num / frame_rate.den;
  const { video, audio } = source;
  return {
    pieceUrl: (track, variant, from, to, seek) => {
      const span = { variant, from: String(from), to: String(to) };
      return mediaUrl(assetId, `pieces/${track}`, seek === undefined ? span : { ...span, seek: String(seek) });
    },
    previewUrl: mediaUrl(assetId, "preview"),
    videoType: video_type,
    audioType: audio_type,
    sourceTypes: await findDecodable({
      video: video && { type: video.type, video: { ...video, frameRate: frameRate ?? 30 } },
      audio: audio && { type: audio.type, audio: { channels: audio.channels, sampleRate: audio.sample_rate } },
    }),
    isPreviewReady: is_preview_ready,
    sourceLines: (video?.starts ?? []).map(fromSeconds),
    frameRate,
  };
}

/** Returns whether this browser can play the recording now. Without Media Source Extensions, it needs the whole preview. */
const isPlayable = (media: AssetMedia | null): media is AssetMedia =>
  media !== null && (media.is_preview_ready || (media.is_playable && hasMediaSource()));

const describeWaiting = (waiting: Waiting | null): string | null => {
  if (waiting === null || waiting === "buffering") return null;
  return "Waiting for the server…";
};

/** Shows the video of the current playback. */
export function VideoPanel({ asset, media, playback }: VideoPanelProps) {
  const video = useRef<HTMLVideoElement>(null);
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
  const height = asset.type === "audio" ? undefined : findSize(panelSizes.videoHeight);
  const { player } = playback;
  const error = player.error.value;
  const note = error ?? (isReady ? null : describeWait(media)) ?? describeWaiting(player.waiting.value);
  return (
    <div
      class={asset.type === "audio" ? "studio-video audio-only" : "studio-video"}
      style={height === undefined ? undefined : { height: `${height}px`, aspectRatio: "auto", maxHeight: "none" }}
    >
      {/* biome-ignore lint/a11y/useMediaCaption: the transcript beside it has every word with its time. */}
      <video
        ref={video}
        poster={asset.type === "video" && asset.state === "ready" ? mediaUrl(asset.id, "poster") : undefined}
        playsInline
        preload="auto"
        tabIndex={-1}
        aria-label="Video"
        onClick={() => playback.toggle()}
      />
      {note !== null && (
        <div class="studio-video-note" role="status">
          <Icon name={error === null ? "info" : "warning"} />
          <p>{note}</p>
          {error !== null && <Button onClick={() => player.retry()}>Try again</Button>}
        </div>
      )}
    </div>
  );
}
